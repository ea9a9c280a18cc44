#include "graphview/view/selection_marks.h"

#include "graphview/view/navigation.h"
#include "models/problem_model.h"
#include "style/words.h"

namespace hopscope::graphview {

using models::Target;

void SelectionMarks::showSelection()
{
    const ScenePtr& scene = m_parts.view.scene();
    if (!scene) return;
    PaintState& state = m_parts.view.state();
    const Target& target = m_parts.selection.current();
    const int node = m_targets.nodeOf(target);
    state.selected.assign(scene->nodes.size(), 0);
    state.selectedEdge = -1;
    state.selectedStore = {};
    state.stage = target.stageId();
    if (target.kind == Target::Kind::Op && node >= 0) state.selected[node] = 1;
    if (target.kind == Target::Kind::Module) markModule(target.module);
    if (target.kind == Target::Kind::Value) markValue(target.valueId());
    else state.stubSource = -1;
    style::announce(m_parts.view, description(node));
    m_parts.view.update();
}

void SelectionMarks::showRefused()
{
    const models::ModelPtr& model = m_parts.document.model();
    const protocol::LintRecord* lint = model ? models::blockingLint(*model) : nullptr;
    const bool known = lint != nullptr && lint->op.valid() && m_parts.view.scene();
    m_parts.view.state().refused = known ? m_targets.nodeOf(Target::op(lint->op)) : -1;
}

void SelectionMarks::markModule(const QString& path)
{
    const VisibleGraph& graph = *m_parts.view.scene()->graph;
    const models::ModuleTree& tree = m_parts.maker.fold().tree;
    const int module = tree.find(path);
    for (std::size_t at = 0; module >= 0 && at < graph.nodeOf.size(); ++at) {
        const OpId op(at);
        const int node = graph.nodeOf[op];
        const bool data = node >= 0 && !graph.nodes[node].prologue;
        if (data && tree.isInside(tree.moduleOf[op], module)) m_parts.view.state().selected[node] = 1;
    }
}

// The edge that carries it, else the node that makes it.
void SelectionMarks::markValue(ValueId value)
{
    const ScenePtr& scene = m_parts.view.scene();
    PaintState& state = m_parts.view.state();
    state.selectedStore = value;
    for (std::size_t i = 0; i < scene->edges.size(); ++i)
        if (std::ranges::binary_search(scene->edges[i].values, value)) state.selectedEdge = static_cast<int>(i);
    if (state.selectedEdge >= 0) return;
    if (const int node = m_targets.nodeOf(Target::value(value)); node >= 0) state.selected[node] = 1;
}

QString SelectionMarks::description(int node) const
{
    if (node < 0) return {};
    const Scene& scene = *m_parts.view.scene();
    const VisibleNode& record = scene.graph->nodes[node];
    return record.label + QStringLiteral(", ") + record.detail +
           tr(", depth %1, stage %2").arg(record.depth).arg(scene.staging.stage[node].number);
}

// The hovered node with its ancestors and descendants; the rest fades. In large graphs, fading would be of no use.
void SelectionMarks::showHover(const Target& target)
{
    constexpr std::size_t maxNodes = 3000;
    const ScenePtr& scene = m_parts.view.scene();
    if (!scene) return;
    PaintState& state = m_parts.view.state();
    const bool nowhere = target.kind == Target::Kind::None || target.kind == Target::Kind::Stage;
    const bool wanted = target.kind == Target::Kind::Op || target.kind == Target::Kind::Module;
    state.hoveredNode = nowhere ? -1 : m_targets.nodeOf(target);
    state.cone =
        wanted && scene->nodes.size() <= maxNodes ? cone(*scene->graph, state.hoveredNode) : std::vector<char>{};
    m_parts.view.update();
}

void SelectionMarks::toggleUses(int source)
{
    int& current = m_parts.view.state().stubSource;
    current = current == source ? -1 : source;
    m_parts.view.update();
}

}  // namespace hopscope::graphview
