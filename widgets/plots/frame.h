#pragma once

// The frame of every plot: a title, a legend and a muted note at the right.

#include <QColor>
#include <QLabel>
#include <QWidget>
#include <vector>

#include "style/theme.h"

namespace hopscope::plots {

struct LegendItem {
    QString name;
    QColor colour;
    bool line = false;  // drawn as a line instead of a square
    Qt::PenStyle style = Qt::DashLine;
    bool operator==(const LegendItem&) const = default;
};

// Shows squares with names in one row; those that do not fit continue in the next row.
class Legend : public QWidget {
    Q_OBJECT
public:
    explicit Legend(QWidget* parent = nullptr);
    void setItems(std::vector<LegendItem> items);
    void setColour(const QColor& text);
    [[nodiscard]] bool hasHeightForWidth() const override { return true; }
    [[nodiscard]] int heightForWidth(int width) const override;
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;
    void paintItems(QPainter& painter, int width) const;  // from the origin; also for files

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    // Returns the position of each item for a width.
    [[nodiscard]] std::vector<QPoint> places(int width) const;
    [[nodiscard]] int itemWidth(const LegendItem& item) const;

    std::vector<LegendItem> m_items;
    QColor m_text;
};

class PlotFrame : public QWidget {
    Q_OBJECT
public:
    PlotFrame(const QString& title, QWidget* body, QWidget* parent = nullptr);
    [[nodiscard]] Legend& legend() { return *m_legend; }
    [[nodiscard]] const Legend& legend() const { return *m_legend; }
    void setNote(const QString& note) { m_note->setText(note); }
    [[nodiscard]] QString title() const { return m_title->text(); }

private:
    QLabel* m_title;
    QLabel* m_note;
    Legend* m_legend;
};

}  // namespace hopscope::plots
