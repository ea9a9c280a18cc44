#pragma once

// Shows two plans side by side: the graph with its current plan and, in the same layout, with another plan. Operators
// that the other plan computes in different stages are marked there. Both views show the same area.

#include <QCoreApplication>
#include <QLabel>
#include <QSplitter>

#include "graphview/view/colour_modes.h"

namespace hopscope::graphview {

class PlanSplit {
    Q_DECLARE_TR_FUNCTIONS(PlanSplit)
public:
    // Moves the view into its splitter.
    PlanSplit(const GraphParts& parts, ColourModes& colours);

    [[nodiscard]] QSplitter& widget() { return *m_splitter; }
    [[nodiscard]] GraphView& other() { return *m_other; }
    void setTheme(const style::Theme& theme);
    void compareWith(std::optional<base::Strategy> strategy);  // none: shows the graph alone
    // Shows an unfinished plan instead, coloured by its stages. Null returns to the plan of compareWith().
    void illustrate(const QString& name, const models::PlanPtr& plan);
    void refresh();  // after a change of scene, plan or colours
    void followCamera(const GraphView& moved);

private:
    QWidget* side(GraphView& view, QLabel& name);
    void show(const ScenePtr& scene, const models::PlanPtr& plan);
    void open();  // shows the other side
    [[nodiscard]] bool isOpen() const { return m_with || m_illustrated; }

    const GraphParts& m_parts;
    ColourModes& m_colours;
    QSplitter* m_splitter;
    QLabel *m_ownName, *m_otherName;
    GraphView* m_other;
    QWidget* m_otherSide;
    std::optional<base::Strategy> m_with;
    models::PlanPtr m_illustrated;  // null: none
    bool m_following = false;       // one of the views is following the other
};

}  // namespace hopscope::graphview
