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
        const VisibleNode& node = scene->graph->nodes[hit.index];
        if (node.module >= 0) return Target::moduleAt(m_parts.maker.fold().tree.modules[node.module].path);
        return Target::op(node.op);
    }
    case Hit::Kind::Frame: return Target::moduleAt(scene->graph->frames[hit.index].path);
    case Hit::Kind::Edge: return Target::value(scene->edges[hit.index].values.front());
    case Hit::Kind::Store: return Target::value(scene->stores[hit.index].value);
    case Hit::Kind::Stub: return Target::value(scene->stubs[hit.index].values.front());
    case Hit::Kind::Nothing: return {};
    }
    return {};
}

int SceneTargets::nodeOf(const Target& target) const
{
    const ScenePtr& scene = m_parts.view.scene();
    if (!scene) return -1;
    const auto& nodeOf = scene->graph->nodeOf;
    const auto& values = m_parts.maker.model()->values;
    OpId op = target.opId();
    if (values.contains(target.valueId())) op = values[target.valueId()].producer;
    if (target.kind == Target::Kind::Module) {
        const models::ModuleTree& tree = m_parts.maker.fold().tree;
        const int module = tree.find(target.module);
        if (module >= 0) op = tree.modules[module].firstOp;
    }
    return nodeOf.contains(op) ? nodeOf[op] : -1;
}

// The value that a node hands on: the last result of its operators that is used outside of it.
ValueId SceneTargets::valueOfNode(int node) const
{
    const ScenePtr& scene = m_parts.view.scene();
    const auto& ops = scene->graph->nodes[node].ops;
    const protocol::ModelRecord& model = *m_parts.maker.model();
    for (auto op = ops.rbegin(); op != ops.rend(); ++op)
        for (const ValueId value : model.ops[*op].outputs)
            for (const OpId consumer : model.values[value].consumers)
                if (scene->graph->nodeOf[consumer] != node && !model.ops[consumer].structureOnly) return value;
    if (scene->graph->nodes[node].shape == Shape::Output && !model.ops[ops.front()].inputs.empty())
        return model.ops[ops.front()].inputs.front();
    return {};
}

ValueId SceneTargets::valueOf(const Hit& hit) const
{
    if (hit.kind == Hit::Kind::Node || hit.kind == Hit::Kind::Expander) return valueOfNode(hit.index);
    if (hit.kind == Hit::Kind::Edge || hit.kind == Hit::Kind::Store) return targetOf(hit).valueId();
    return {};
}

ValueId SceneTargets::selectedValue() const
{
    const Target& target = m_parts.selection.current();
    if (target.kind == Target::Kind::Value) return target.valueId();
    const int node = selectedNode();
    return node < 0 ? ValueId() : valueOfNode(node);
}

}  // namespace hopscope::graphview
