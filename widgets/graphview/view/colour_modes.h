#pragma once

// Manages the colours of the nodes: the current mode, and the modes that are available with the current data.

#include <QAction>
#include <QCoreApplication>
#include <memory>

#include "graphview/view/graph_overlays.h"
#include "graphview/view/graph_parts.h"

namespace hopscope::graphview {

class ColourModes {
    Q_DECLARE_TR_FUNCTIONS(ColourModes)
public:
    ColourModes(const GraphParts& parts, GraphOverlays& overlays);

    void setActions(const QList<QAction*>& actions) { m_actions = actions; }  // by mode; call before anything else
    void setTheme(const style::Theme& theme);
    void setMode(ColourMode mode);
    [[nodiscard]] ColourMode mode() const { return m_mode; }
    [[nodiscard]] bool isAvailable(ColourMode mode) const { return m_actions[static_cast<int>(mode)]->isEnabled(); }
    // The result of a comparison for each operator, or null.
    using Divergence = std::shared_ptr<const schema::DivergenceRecord>;
    void setErrors(Divergence found);
    void takeRuns();
    void refresh();  // determines the available modes; falls back to the depth
    void recolour();
    // Returns the colours of a scene with a different plan.
    [[nodiscard]] Colouring colouring(const Scene& scene, const models::PlanPtr& plan) const;
    [[nodiscard]] Colouring byStage(const Scene& scene, const models::PlanPtr& plan) const;
    void recolourPreview(const ScenePtr& scene);

private:
    [[nodiscard]] ColourData data(const models::ModelPtr& model, const models::PlanPtr& plan) const;

    const GraphParts& m_parts;
    GraphOverlays& m_overlays;
    QList<QAction*> m_actions;
    Divergence m_divergence;
    ColourMode m_mode = ColourMode::Depth;
    style::Theme m_theme;
};

}  // namespace hopscope::graphview
