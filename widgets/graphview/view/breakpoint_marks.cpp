#include "graphview/view/breakpoint_marks.h"

#include <QInputDialog>
#include <limits>

namespace hopscope::graphview {

using models::BreakOn;
using models::Breakpoint;
using models::Target;

// Those of stages are at all operators of theirs that can be seen.
void BreakpointMarks::mark()
{
    GraphView& view = m_parts.view;
    const ScenePtr& scene = view.scene();
    if (!scene) return;
    const std::vector<Breakpoint>& all = m_parts.document.settings().breakpoints;
    std::vector<char>& marked = view.state().breakpoints;
    marked.assign(all.empty() ? 0 : scene->nodes.size(), 0);
    for (const Breakpoint& each : all) {
        if (each.place.kind == Target::Kind::Stage) {
            for (std::size_t node = 0; node < marked.size(); ++node)
                if (!scene->staging.stage.empty() && scene->staging.stage[node] == each.place.stageId())
                    marked[node] = 1;
        } else if (const int node = m_targets.nodeOf(each.place); node >= 0) {
            marked[static_cast<std::size_t>(node)] = 1;
        }
    }
    view.update();
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
    add("break.nan", tr("On NaN or infinity"), is(BreakOn::NotFinite),
        [this, place] { set({.place = place, .condition = BreakOn::NotFinite}); });
    add("break.range", tr("Outside a range…"), is(BreakOn::OutsideRange), [this, now] { askRange(now); });
    add("break.node", tr("In the batch of a node…"), is(BreakOn::Node), [this, now] { askNode(now); });
}

}  // namespace hopscope::graphview
