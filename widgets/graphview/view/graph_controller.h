#pragma once

// Controls the panel: creates the view and its helpers, and connects them with the document and the linked selection.
// The helpers do the actual work.

#include "graphview/view/graph_actions.h"
#include "graphview/view/graph_parts.h"

namespace hopscope::graphview {

class GraphController : public QObject {
    Q_OBJECT
public:
    GraphController(models::Document& document, models::Selection& selection, GraphPanel& panel);

    void setTheme(const style::Theme& theme);
    void setColourMode(ColourMode mode);
    void setReducedMotion(bool reduced) { m_view->setReducedMotion(reduced); }
    [[nodiscard]] ColourMode colourMode() const { return m_tools.colours.mode(); }
    void showErrors(const schema::DivergenceRecord& found);
    void showBeside(const QString& name, const models::PlanPtr& plan) { m_tools.split.illustrate(name, plan); }
    [[nodiscard]] const QList<QAction*>& actions() const { return m_actions.all(); }
    [[nodiscard]] SceneMaker& maker() { return m_maker; }
    [[nodiscard]] GraphView& view() { return *m_view; }
    [[nodiscard]] const GraphView& view() const { return *m_view; }
    [[nodiscard]] QByteArray saveView() const;
    void restoreView(const QByteArray& text);

private:
    void setupView();
    void setupActions();
    void connectDocument();
    void connectView();
    void connectOverlays();
    void takeModel();
    void takeScene();
    void takeRun();
    void takePlan();
    void click(const Hit& hit);
    void activate(const Hit& hit);

    models::Document& m_document;
    models::Selection& m_selection;
    GraphPanel& m_panel;
    SceneMaker m_maker;
    GraphView* m_view;
    GraphParts m_parts;
    GraphTools m_tools;
    GraphActions m_actions;
};

}  // namespace hopscope::graphview
