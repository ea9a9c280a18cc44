#pragma once

// The strip of buttons at the lower edge of the graph: colours, fold, fit, zoom.

#include <QAction>

#include "graphview/view/graph_view.h"
#include "graphview/view/overlays.h"

namespace hopscope::graphview {

class ToolStrip : public Card {
    Q_OBJECT
public:
    explicit ToolStrip(GraphView& view);
    void fill(const QList<QAction*>& colours, const QList<QAction*>& folds);  // once
    void showZoom(qreal scale);

private:
    QToolButton* addButton(const char* name, const QString& text);
    void addMenu(const char* name, const QString& text, const QList<QAction*>& actions);

    GraphView& m_view;
    QToolButton* m_zoom = nullptr;
};

}  // namespace hopscope::graphview
