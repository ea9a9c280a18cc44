#include "graphview/fold/fold.h"
#include "graphview/fold/words.h"

namespace hopscope::graphview {

namespace {

int countLeaders(FoldModel& fold, int module)
{
    int count = 0;
    for (const OpId op : fold.tree.modules[module].ops) count += fold.leaders[op] == op ? 1 : 0;
    for (int child : fold.tree.modules[module].children) count += countLeaders(fold, child);
    return fold.leaderCount[module] = count;
}

Shape shapeOf(const protocol::OpRecord& op)
{
    using protocol::NodeKind;
    if (op.structureOnly && op.computes()) return Shape::Structure;
    switch (op.kind) {
    case NodeKind::Input: return Shape::Input;
    case NodeKind::Output: return Shape::Output;
    case NodeKind::Structure: return Shape::Structure;
    case NodeKind::Gather: return Shape::Gather;
    case NodeKind::Aggregate: return Shape::Aggregate;
    case NodeKind::Reduce: return Shape::Reduce;
    case NodeKind::Rowwise: break;
    }
    return Shape::Rowwise;
}

// The outermost module with operators of its own around an operator: by it the prologue is folded.
int prologueModule(const models::ModuleTree& tree, OpId op)
{
    int found = 0;
    for (int module = tree.moduleOf[op]; module > 0; module = tree.modules[module].parent)
        if (!tree.modules[module].type.isEmpty() && tree.modules[module].repeat == 1) found = module;
    return found;
}

OpFacts factsOf(const models::ModuleTree& tree, const protocol::OpRecord& record, OpId op)
{
    return {.shape = shapeOf(record),
            .prologue = record.structureOnly && record.computes(),
            .structureInput = record.structureOnly && record.kind == protocol::NodeKind::Input,
            .scalar = isScalar(record),
            .depth = record.depth,
            .prologueModule = record.structureOnly ? prologueModule(tree, op) : 0};
}

void addFlows(FoldModel& fold, const protocol::OpRecord& record)
{
    fold.flowsOf.push_back(fold.flows.size());
    for (const ValueId value : record.inputs)
        if (const OpId producer = fold.model->values[value].producer; producer.valid())
            fold.flows.push_back({.value = value, .producer = producer});
}

}  // namespace

FoldModel prepareFold(const protocol::ModelRecord& model, const models::ModuleTree* tree)
{
    FoldModel fold;
    fold.model = &model;
    fold.tree = withRuns(tree ? *tree : models::buildModuleTree(model));
    fold.leaders = leadersOf(model);
    for (std::size_t at = 0; at < model.ops.size(); ++at) {
        fold.facts.push_back(factsOf(fold.tree, model.ops[at], OpId(at)));
        addFlows(fold, model.ops[at]);
    }
    fold.flowsOf.push_back(fold.flows.size());
    fold.leaderCount.resize(fold.tree.modules.size());
    countLeaders(fold, 0);
    return fold;
}

}  // namespace hopscope::graphview
