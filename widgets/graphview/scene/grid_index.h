#pragma once

// Finds rectangles by position with a uniform grid, which is built once. Queries visit each rectangle at most once, in
// ascending order of index.

#include <QPointF>
#include <QRectF>
#include <vector>

namespace hopscope::graphview {

// Returns true if the rectangles have a point in common, borders included.
inline bool touch(const QRectF& a, const QRectF& b)
{
    return a.left() <= b.right() && b.left() <= a.right() && a.top() <= b.bottom() && b.top() <= a.bottom();
}

class GridIndex {
public:
    GridIndex() = default;
    explicit GridIndex(const std::vector<QRectF>& rects);

    [[nodiscard]] std::vector<int> inside(const QRectF& area) const;  // those that touch the area
    [[nodiscard]] int count(const QRectF& area, int limit) const;     // as inside().size(), but stops at the limit
    [[nodiscard]] int at(QPointF point) const;                        // the last that contains the point, or -1

private:
    struct Cells {
        int left, right, top, bottom;
    };
    [[nodiscard]] Cells cells(const QRectF& area) const;
    template <class Visit>
    void visit(const QRectF& area, Visit visit) const;

    struct Corner {
        int column = 0, row = 0;
    };

    std::vector<QRectF> m_rects;
    std::vector<Corner> m_first;  // by rectangle: its upper left cell
    QRectF m_bounds;
    qreal m_cell = 256;
    int m_columns = 0, m_rows = 0;
    std::vector<int> m_begin, m_items;
};

}  // namespace hopscope::graphview
