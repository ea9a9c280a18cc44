#pragma once

// Shows the receptive field of a node as a picture, hop by hop from the result down to the inputs. The left half shows
// all nodes that the result depends on, the right half the rows that a layer-wise run reads for the node from its
// stores. Small fields are drawn row by row and edge by edge, large ones as shares of the graph. A click or the arrow
// keys choose a hop.

#include <QWidget>

#include "schema/receptive_field.h"
#include "style/theme.h"

namespace hopscope::study {

class FieldFlow : public QWidget {
    Q_OBJECT
public:
    explicit FieldFlow(QWidget* parent = nullptr);
    void display(std::shared_ptr<const schema::ReceptiveField> field);  // null: shows nothing
    void setTheme(const style::Theme& theme);
    void choose(int level);  // marks the level
    [[nodiscard]] int chosen() const { return m_chosen; }
    [[nodiscard]] bool drawsRows() const;  // true if it draws rows and edges one by one in the current width
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

signals:
    void levelChosen(int level);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    // A row of a level, with its position in the picture.
    struct Dot {
        std::string table;
        std::int64_t id = 0;
        QPointF at;
    };
    using Dots = std::vector<Dot>;

    [[nodiscard]] int levels() const;
    [[nodiscard]] QRectF half(int number) const;  // 0: left, 1: right; without its heading
    [[nodiscard]] qreal lineOf(int level) const;  // the height at which the rows of a level are drawn
    [[nodiscard]] qreal step() const;
    [[nodiscard]] Dots dotsOf(int level) const;
    [[nodiscard]] qreal radiusOf(const Dots& dots, qreal width) const;
    void paintChosen(QPainter& painter) const;
    void paintHeadings(QPainter& painter) const;
    void paintNames(QPainter& painter) const;
    void paintRows(QPainter& painter) const;
    void paintEdges(QPainter& painter, int level, const Dots& upper, const Dots& lower) const;
    void paintDots(QPainter& painter, int level, const Dots& dots, qreal width) const;
    [[nodiscard]] qreal widthOf(std::int64_t rows) const;  // of a bar
    void paintBars(QPainter& painter) const;
    void paintBar(QPainter& painter, int level) const;
    void paintLabel(QPainter& painter, const QRectF& above, const QString& text) const;
    void paintBlocks(QPainter& painter) const;
    void paintStore(QPainter& painter, int level) const;
    void paintFan(QPainter& painter, int level) const;

    std::shared_ptr<const schema::ReceptiveField> m_field;
    int m_chosen = 0;
    style::Theme m_theme;
};

}  // namespace hopscope::study
