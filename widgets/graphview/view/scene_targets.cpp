#include "graphview/view/scene_targets.h"

namespace hopscope::graphview {

using models::Target;

Target SceneTargets::targetOf(const Hit& hit) const
{
    const ScenePtr& scene = m_parts.view.scene();
    if (!scene) return {};
    switch (hit.kind) {
    case Hit::Kind::Node:
    case Hit::Kind::Expander: {
        const VisibleNode& node = scene->graph.nodes[hit.index];
        if (node.module >= 0) return Target::moduleAt(m_parts.maker.fold().tree.modules[node.module].path);
        return Target::op(protocol::OpId(node.op));
    }
    case Hit::Kind::Frame: return Target::moduleAt(scene->graph.frames[hit.index].path);
    case Hit::Kind::Edge: return Target::value(protocol::ValueId(scene->edges[hit.index].values.front()));
    case Hit::Kind::Store: return Target::value(protocol::ValueId(scene->stores[hit.index].value));
    case Hit::Kind::Stub: return Target::value(protocol::ValueId(scene->stubs[hit.index].values.front()));
    case Hit::Kind::Nothing: return {};
    }
    return {};
}

int SceneTargets::nodeOf(const Target& target) const
{
    const ScenePtr& scene = m_parts.view.scene();
    if (!scene) return -1;
    const auto& nodeOf = scene->graph.nodeOf;
    const auto& values = m_parts.maker.model()->values;
    int op = -1;
    if (target.kind == Target::Kind::Op) op = target.index;
    if (target.kind == Target::Kind::Value && target.index < static_cast<int>(values.size()))
        op = values[target.index].producer.index;
    if (target.kind == Target::Kind::Module) {
        const models::ModuleTree& tree = m_parts.maker.fold().tree;
        const int module = tree.find(target.module);
        op = module < 0 ? -1 : tree.modules[module].firstOp.index;
    }
    return op >= 0 && op < static_cast<int>(nodeOf.size()) ? nodeOf[op] : -1;
}

// What a node hands on: the last result of its operators that something outside of it uses.
int SceneTargets::valueOfNode(int node) const
{
    const ScenePtr& scene = m_parts.view.scene();
    const auto& ops = scene->graph.nodes[node].ops;
    const protocol::ModelRecord& model = *m_parts.maker.model();
    for (auto op = ops.rbegin(); op != ops.rend(); ++op)
        for (const auto [value] : model.ops[*op].outputs)
            for (const auto [consumer] : model.values[value].consumers)
                if (scene->graph.nodeOf[consumer] != node && !model.ops[consumer].structureOnly) return value;
    if (scene->graph.nodes[node].shape == Shape::Output && !model.ops[ops.front()].inputs.empty())
        return model.ops[ops.front()].inputs.front().index;
    return -1;
}

int SceneTargets::valueOf(const Hit& hit) const
{
    if (hit.kind == Hit::Kind::Node || hit.kind == Hit::Kind::Expander) return valueOfNode(hit.index);
    if (hit.kind == Hit::Kind::Edge || hit.kind == Hit::Kind::Store) return targetOf(hit).index;
    return -1;
}

int SceneTargets::selectedValue() const
{
    const Target& target = m_parts.selection.current();
    if (target.kind == Target::Kind::Value) return target.index;
    const int node = selectedNode();
    return node < 0 ? -1 : valueOfNode(node);
}

}  // namespace hopscope::graphview
