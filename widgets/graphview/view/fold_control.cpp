#include "graphview/view/fold_control.h"

#include "graphview/fold/fold_builder.h"
#include "models/labels.h"

namespace hopscope::graphview {

using models::Target;

namespace {

QString moduleKey(const QString& path) { return QStringLiteral("module:") + path; }

QPointF topOf(const QRectF& rect) { return {rect.center().x(), rect.top()}; }

}  // namespace

FoldControl::FoldControl(const GraphParts& parts, const SceneTargets& targets, ScenePlacement& placement)
    : m_parts(parts),
      m_targets(targets),
      m_placement(placement)
{}

void FoldControl::toggle(const QString& path, const QPointF& anchor, const QString& keyAfter, const QString& frameAfter)
{
    FoldState state = m_parts.maker.state();
    if (!state.expanded.remove(path)) state.expanded.insert(path);
    m_placement.keep(anchor, keyAfter, frameAfter);
    m_parts.maker.setFold(std::move(state));
}

void FoldControl::open(int node)
{
    const ScenePtr& scene = m_parts.view.scene();
    if (node < 0 || scene->graph->nodes[node].expands.isEmpty()) return;
    const VisibleNode& box = scene->graph->nodes[node];
    const QString firstOp = models::text(m_parts.maker.model()->ops[box.op].id);
    toggle(box.expands, topOf(scene->nodes[node]), firstOp, box.expands);
}

void FoldControl::close(int frame)
{
    const ScenePtr& scene = m_parts.view.scene();
    const QString path = scene->graph->frames[frame].path;
    toggle(path, topOf(scene->frames[frame]), moduleKey(path), {});
}

bool FoldControl::isInModule(int node) const
{
    const VisibleNode& record = m_parts.view.scene()->graph->nodes[node];
    return !enclosing(m_parts.maker.fold(), m_parts.maker.state(), record).isEmpty();
}

void FoldControl::closeAround(int node)
{
    if (node < 0) return;
    if (!isInModule(node)) return emit m_parts.panel.contextHelpRequested(tr("The selection is not inside a module."));
    const ScenePtr& scene = m_parts.view.scene();
    const VisibleNode& record = scene->graph->nodes[node];
    const QString path = enclosing(m_parts.maker.fold(), m_parts.maker.state(), record);
    toggle(path, topOf(scene->nodes[node]), record.prologue ? path : moduleKey(path), {});
}

void FoldControl::openAll() { showEveryOperator(m_parts.maker.state().everyOperator); }

void FoldControl::closeAll()
{
    m_placement.fit();
    m_parts.maker.setFold({});
}

void FoldControl::foldToLayers()
{
    if (!m_parts.maker.ready()) return;
    m_placement.fit();
    m_parts.maker.setFold(m_parts.maker.initial());
}

void FoldControl::showEveryOperator(bool shown)
{
    if (!m_parts.maker.ready()) return;
    const FoldModel& fold = m_parts.maker.fold();
    FoldState state = shown ? fullyExpanded(fold) : modulesExpanded(fold);
    state.everyOperator = shown;
    m_placement.fit();
    m_parts.maker.setFold(std::move(state));
}

bool FoldControl::openAround(const Target& target)
{
    SceneMaker& maker = m_parts.maker;
    const ScenePtr& scene = m_parts.view.scene();
    const int node = m_targets.nodeOf(target);
    if (target.kind == Target::Kind::Module || node < 0 || scene->graph->nodes[node].expands.isEmpty()) return false;
    FoldState state = maker.state();
    if (scene->graph->nodes[node].prologue) {
        state.expanded.insert(scene->graph->nodes[node].expands);
    } else {
        const auto& tree = maker.fold().tree;
        const OpId op =
            target.kind == Target::Kind::Op ? target.opId() : maker.model()->values[target.valueId()].producer;
        for (int module = tree.moduleOf[op]; module > 0; module = tree.modules[module].parent)
            state.expanded.insert(tree.modules[module].path);
    }
    if (state == maker.state()) return false;
    maker.setFold(std::move(state));
    return true;
}

}  // namespace hopscope::graphview
