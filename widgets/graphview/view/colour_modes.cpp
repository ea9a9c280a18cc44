#include "graphview/view/colour_modes.h"

namespace hopscope::graphview {

ColourModes::ColourModes(const GraphParts& parts, GraphOverlays& overlays)
    : m_parts(parts),
      m_overlays(overlays),
      m_theme(style::loadTheme(style::Mode::Auto))
{
    m_overlays.searchBar().setTheme(m_theme);
}

ColourData ColourModes::data(const models::ModelPtr& model, const models::PlanPtr& plan) const
{
    const auto& runs = m_parts.document.runs();
    return {.model = model.get(),
            .plan = plan.get(),
            .report = runs.empty() ? nullptr : runs.back().report.get(),
            .divergence = m_divergence.get()};
}

void ColourModes::setTheme(const style::Theme& theme)
{
    m_theme = theme;
    m_parts.view.setTheme(theme);
    m_overlays.setTheme(theme);
    recolour();
}

void ColourModes::setMode(ColourMode mode)
{
    m_mode = mode;
    m_actions[static_cast<int>(mode)]->setChecked(true);
    m_overlays.strip().showColour(modeName(mode));
    recolour();
}

void ColourModes::setErrors(Divergence found)
{
    if (found == m_divergence) return;
    m_divergence = std::move(found);
    refresh();
    recolour();
}

// The result of a newer verification replaces an older comparison.
void ColourModes::takeRuns()
{
    const auto& runs = m_parts.document.runs();
    if (!runs.empty() && runs.back().report && runs.back().report->verify) m_divergence.reset();
    refresh();
    recolour();
}

void ColourModes::refresh()
{
    const ColourData known = data(m_parts.document.model(), m_parts.document.plan());
    for (int i = 0; i < modeCount; ++i) {
        QAction* action = m_actions[i];
        const QString reason = whyUnavailable(static_cast<ColourMode>(i), known);
        action->setEnabled(reason.isEmpty());
        action->setToolTip(reason.isEmpty() ? tr("Colour by %1").arg(action->text().toLower()) : reason);
        action->setStatusTip(reason);
    }
    if (!isAvailable(m_mode) && known.model) setMode(ColourMode::Depth);
}

void ColourModes::recolour()
{
    const ScenePtr& scene = m_parts.view.scene();
    if (!scene) return m_overlays.hide();
    const models::PlanPtr& plan = m_parts.maker.plan();
    Colouring colouring = colourNodes(*scene, m_mode, data(m_parts.maker.model(), plan), m_theme);
    const auto& state = m_parts.view.state();
    const auto marks = [](const std::vector<BreakMark>& list, BreakMark mark) {
        return std::ranges::find(list, mark) != list.end();
    };
    const Legend::Signs signs{
        .stores = !scene->stores.empty(),
        .again = std::ranges::any_of(scene->staging.again, [](const auto& stages) { return !stages.empty(); }),
        .pins = plan && !plan->pins.empty(),
        .breakpoints = marks(state.breakpoints, BreakMark::Here) || marks(state.bandBreakpoints, BreakMark::Here),
        .inside = marks(state.breakpoints, BreakMark::Inside) || marks(state.bandBreakpoints, BreakMark::Inside)};
    m_overlays.display(scene, colouring, m_theme, signs);
    m_parts.view.setColouring(std::move(colouring));
    m_overlays.place();
}

Colouring ColourModes::colouring(const Scene& scene, const models::PlanPtr& plan) const
{
    return colourNodes(scene, m_mode, data(m_parts.maker.model(), plan), m_theme);
}

Colouring ColourModes::byStage(const Scene& scene, const models::PlanPtr& plan) const
{
    return colourNodes(scene, ColourMode::Stage, data(m_parts.maker.model(), plan), m_theme);
}

void ColourModes::recolourPreview(const ScenePtr& scene)
{
    m_parts.view.setColouring(colouring(*scene, m_parts.document.preview().plan));
}

}  // namespace hopscope::graphview
