#include "graphview/view/breakpoint_marks.h"

#include <QInputDialog>
#include <algorithm>
#include <limits>
#include <utility>

namespace hopscope::graphview {

using models::BreakOn;
using models::Breakpoint;
using models::Target;

namespace {

// Here if the whole node belongs to the stage, or is computed again in it; Inside if only a part of a folded node does.
BreakMark ofStage(const Staging& staging, std::size_t node, protocol::StageId stage)
{
    const protocol::StageId first = staging.stage[node], last = staging.lastStage[node];
    if (std::ranges::find(staging.again[node], stage) != staging.again[node].end()) return BreakMark::Here;
    if (!first.valid() || stage < first || stage > last) return BreakMark::None;
    return first == last ? BreakMark::Here : BreakMark::Inside;
}

void raise(BreakMark& mark, BreakMark to) { mark = std::max(mark, to); }

}  // namespace

bool BreakpointMarks::mark()
{
    GraphView& view = m_parts.view;
    const ScenePtr& scene = view.scene();
    if (!scene) return false;
    PaintState& state = view.state();
    const std::vector<Breakpoint>& all = m_parts.document.settings().breakpoints;
    const auto before = std::exchange(state.breakpoints, {});
    state.breakpoints.assign(all.empty() ? 0 : scene->nodes.size(), BreakMark::None);
    state.bandBreakpoints.assign(all.empty() ? 0 : scene->bands.size(), BreakMark::None);
    state.breakpointTips = QStringList(static_cast<qsizetype>(state.breakpoints.size()));
    for (const Breakpoint& each : all) {
        markNodes(each);
        markBands(each);
    }
    view.update();
    return before != state.breakpoints;
}

// Breakpoints of stages are marked at all their visible operators.
void BreakpointMarks::markNodes(const Breakpoint& breakpoint)
{
    const Scene& scene = *m_parts.view.scene();
    PaintState& state = m_parts.view.state();
    const QString condition = models::conditionText(breakpoint);
    const QString place = models::placeText(*m_parts.maker.model(), breakpoint.place);
    const QString tip = tr("Breakpoint: %1").arg(condition.isEmpty() ? place : tr("%1, %2").arg(place, condition));
    const auto put = [&](std::size_t node, BreakMark mark) {
        raise(state.breakpoints[node], mark);
        if (mark == BreakMark::None) return;
        QString& tips = state.breakpointTips[static_cast<qsizetype>(node)];
        tips += tips.isEmpty() ? tip : QLatin1Char('\n') + tip;
    };
    if (breakpoint.place.kind != Target::Kind::Stage) {
        const int node = m_targets.nodeOf(breakpoint.place);
        if (node < 0) return;
        const bool box = !scene.graph->nodes[node].expands.isEmpty();
        return put(static_cast<std::size_t>(node), box ? BreakMark::Inside : BreakMark::Here);
    }
    for (std::size_t node = 0; node < scene.staging.stage.size(); ++node)
        put(node, ofStage(scene.staging, node, breakpoint.place.stageId()));
}

void BreakpointMarks::markBands(const Breakpoint& breakpoint)
{
    const Scene& scene = *m_parts.view.scene();
    std::vector<BreakMark>& marks = m_parts.view.state().bandBreakpoints;
    const bool whole = breakpoint.place.kind == Target::Kind::Stage;
    const models::PlanPtr& plan = m_parts.maker.plan();
    std::vector<protocol::StageId> stages;
    if (whole) stages = {breakpoint.place.stageId()};
    else if (plan) stages = plan->stagesOf(breakpoint.place.opId());
    for (const protocol::StageId stage : stages)
        for (std::size_t band = 0; band < marks.size(); ++band) {
            const Band& at = scene.bands[band];
            if (!at.stage.valid() || stage < at.stage || stage > at.last) continue;
            raise(marks[band], whole && at.stage == at.last ? BreakMark::Here : BreakMark::Inside);
        }
}

void BreakpointMarks::set(const Breakpoint& breakpoint)
{
    std::vector<Breakpoint> all = m_parts.document.settings().breakpoints;
    std::erase_if(all, [&](const Breakpoint& each) { return each.place == breakpoint.place; });
    all.push_back(breakpoint);
    emit m_parts.panel.breakpointsWanted(all);
}

void BreakpointMarks::askRange(Breakpoint breakpoint)
{
    bool fine = false;
    const QString title = tr("Breakpoint");
    breakpoint.condition = BreakOn::OutsideRange;
    breakpoint.least = QInputDialog::getDouble(&m_parts.panel, title, tr("Stop at numbers below"), breakpoint.least,
                                               -1e30, 1e30, 6, &fine);
    if (!fine) return;
    breakpoint.most =
        QInputDialog::getDouble(&m_parts.panel, title, tr("or above"), breakpoint.most, -1e30, 1e30, 6, &fine);
    if (fine) set(breakpoint);
}

void BreakpointMarks::askNode(Breakpoint breakpoint)
{
    bool fine = false;
    breakpoint.condition = BreakOn::Node;
    breakpoint.node =
        QInputDialog::getInt(&m_parts.panel, tr("Breakpoint"), tr("Stop in the batch of node"),
                             static_cast<int>(breakpoint.node), 0, std::numeric_limits<int>::max(), 1, &fine);
    if (fine) set(breakpoint);
}

void BreakpointMarks::addToMenu(QMenu& menu, int node)
{
    const models::ModelPtr& model = m_parts.document.model();
    const ValueId value = m_targets.valueOfNode(node);
    if (!model || !m_parts.document.plan() || !value.valid()) return;
    const Target place = models::breakPlace(*model, Target::value(value));
    if (place.kind == Target::Kind::None) return;
    const Breakpoint* known = models::breakpointAt(m_parts.document.settings().breakpoints, place);
    const Breakpoint now = known != nullptr ? *known : Breakpoint{.place = place};
    QMenu* choices = menu.addMenu(tr("Breakpoint"));
    choices->setObjectName(QStringLiteral("graphBreakpoint"));
    const auto add = [&](const char* name, const QString& text, bool checked, const auto& run) {
        QAction* action = choices->addAction(text, &m_parts.panel, run);
        action->setObjectName(QLatin1String(name));
        action->setCheckable(true);
        action->setChecked(checked);
    };
    const auto is = [&](BreakOn condition) { return known != nullptr && now.condition == condition; };
    add("break.none", tr("None"), known == nullptr, [this, place, there = known != nullptr] {
        if (there)
            emit m_parts.panel.breakpointsWanted(models::toggled(m_parts.document.settings().breakpoints, place));
    });
    add("break.always", tr("Always"), is(BreakOn::Always), [this, place] { set({.place = place}); });
    add("break.nan", tr("On NaN or Infinity"), is(BreakOn::NotFinite),
        [this, place] { set({.place = place, .condition = BreakOn::NotFinite}); });
    add("break.range", tr("Outside a Range…"), is(BreakOn::OutsideRange), [this, now] { askRange(now); });
    add("break.node", tr("In the Batch of a Node…"), is(BreakOn::Node), [this, now] { askNode(now); });
}

}  // namespace hopscope::graphview
