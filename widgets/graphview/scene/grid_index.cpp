#include "graphview/scene/grid_index.h"

#include <algorithm>
#include <cmath>

namespace hopscope::graphview {

namespace {

constexpr qreal maxCells = 1 << 18;

}  // namespace

GridIndex::GridIndex(const std::vector<QRectF>& rects) : m_rects(rects)
{
    for (const QRectF& rect : rects) m_bounds |= rect;
    if (m_bounds.isEmpty()) return;
    while (m_bounds.width() / m_cell * (m_bounds.height() / m_cell) > maxCells) m_cell *= 2;
    m_columns = static_cast<int>(m_bounds.width() / m_cell) + 1;
    m_rows = static_cast<int>(m_bounds.height() / m_cell) + 1;
    m_begin.assign(static_cast<std::size_t>(m_columns) * m_rows + 1, 0);
    m_first.resize(rects.size());
    const auto forCells = [&](auto take) {
        for (std::size_t i = 0; i < rects.size(); ++i) {
            if (rects[i].isNull()) continue;
            const Cells span = cells(rects[i]);
            m_first[i] = {.column = span.left, .row = span.top};
            for (int y = span.top; y <= span.bottom; ++y)
                for (int x = span.left; x <= span.right; ++x) take(y * m_columns + x, static_cast<int>(i));
        }
    };
    forCells([&](int cell, int) { ++m_begin[cell + 1]; });
    for (std::size_t i = 1; i < m_begin.size(); ++i) m_begin[i] += m_begin[i - 1];
    m_items.resize(m_begin.back());
    std::vector<int> next(m_begin.begin(), m_begin.end() - 1);
    forCells([&](int cell, int item) { m_items[next[cell]++] = item; });
}

GridIndex::Cells GridIndex::cells(const QRectF& area) const
{
    const auto column = [&](qreal x) {
        return std::clamp(int(std::floor((x - m_bounds.left()) / m_cell)), 0, m_columns - 1);
    };
    const auto row = [&](qreal y) { return std::clamp(int(std::floor((y - m_bounds.top()) / m_cell)), 0, m_rows - 1); };
    return {.left = column(area.left()),
            .right = column(area.right()),
            .top = row(area.top()),
            .bottom = row(area.bottom())};
}

// Calls visit(item, cell is the item's first one inside of the area) until it returns false.
template <class Visit>
void GridIndex::visit(const QRectF& area, Visit visit) const
{
    if (m_columns == 0) return;
    const Cells span = cells(area);
    for (int y = span.top; y <= span.bottom; ++y)
        for (int x = span.left; x <= span.right; ++x)
            for (int at = m_begin[y * m_columns + x]; at < m_begin[y * m_columns + x + 1]; ++at) {
                const int item = m_items[at];
                const Corner first = m_first[item];
                if (std::max(first.column, span.left) != x || std::max(first.row, span.top) != y) continue;
                if (touch(m_rects[item], area) && !visit(item)) return;
            }
}

std::vector<int> GridIndex::inside(const QRectF& area) const
{
    std::vector<int> items;
    visit(area, [&](int item) { return items.push_back(item), true; });
    std::sort(items.begin(), items.end());
    return items;
}

int GridIndex::count(const QRectF& area, int limit) const
{
    int found = 0;
    visit(area, [&](int) { return ++found < limit; });
    return found;
}

int GridIndex::at(QPointF point) const
{
    int last = -1;
    visit(QRectF(point, QSizeF(0, 0)), [&](int item) {
        if (m_rects[item].contains(point)) last = std::max(last, item);
        return true;
    });
    return last;
}

}  // namespace hopscope::graphview
