#pragma once

// The strip below the graph: colour mode, legend of colours and signs, fold, fit and zoom. It covers nothing, and its
// buttons keep their positions whatever the legend contains.

#include <QAction>
#include <QBoxLayout>

#include "graphview/view/graph_view.h"
#include "graphview/view/overlays.h"

namespace hopscope::graphview {

class ToolStrip : public QWidget {
    Q_OBJECT
public:
    ToolStrip(GraphView& view, QWidget* parent);
    void fill(const QList<QAction*>& colours, const QList<QAction*>& comparisons,
              const QList<QAction*>& folds);  // call once
    void showColour(const QString& mode);     // the colour mode of the nodes
    void showZoom(qreal scale);
    void setTheme(const style::Theme& theme);
    [[nodiscard]] Legend& legend() { return *m_legend; }
    void arrange();  // call after the legend changes: places it next to the buttons, or above them if there is no room

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    [[nodiscard]] int roomBesideButtons() const;
    QToolButton* addButton(const char* name, const QString& text);
    QToolButton* addMenu(const char* name, const QString& text, const QList<QAction*>& actions);

    GraphView& m_view;
    QVBoxLayout* m_rows;
    QHBoxLayout* m_row;
    Legend* m_legend;
    QToolButton *m_colour = nullptr, *m_zoom = nullptr;
    bool m_above = false;  // the legend has a row of its own
    style::Theme m_theme;
};

}  // namespace hopscope::graphview
