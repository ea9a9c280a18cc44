#include "verify/soundness.h"

#include <algorithm>

#include "analysis/naming/table_labels.h"
#include "operators/operators.h"

namespace hopscope::verify {

namespace {

using analysis::Analysis;
using analysis::OpInfo;
using analysis::OpKind;
using analysis::SpaceKind;
using analysis::Use;
using analysis::ValueInfo;
using ir::Slot;
using ir::ValueId;
using Obstacle = std::optional<std::string>;

bool isSize(const ValueInfo& info) { return info.size && !info.size->isConstant(); }

// Reducing an index to its largest number only to know a table's size is checked on the real data by a guard.
bool onlyMeasures(const Analysis& analysis, const ir::Op& op)
{
    const bool guarded = std::any_of(analysis.maxIndexGuards.begin(), analysis.maxIndexGuards.end(),
                                     [&](const analysis::MaxIndexGuard& guard) { return guard.op == op.id; });
    const bool size =
        std::all_of(op.outputs.begin(), op.outputs.end(), [&](ValueId v) { return isSize(analysis.info(v)); });
    return guarded || (size && !op.outputs.empty());
}

Obstacle reducesRows(const Analysis& analysis, const ir::Op& op)
{
    const OpInfo& info = analysis.info(op.id);
    if (info.kind == OpKind::Reduce && !onlyMeasures(analysis, op))
        return ir::describeOp(op) + " reduces over all rows, so that a sampled neighbourhood yields different results";
    if (info.kind == OpKind::Aggregate && info.role.target.valid() && !analysis.tables.isRow(info.role.target))
        return ir::describeOp(op) +
               " pools the rows of a graph, so that a sampled neighbourhood yields different results";
    return std::nullopt;
}

// Sizes in shape arguments are local to the rows at hand; anywhere else they are numbers of the whole graph.
bool shapeArgument(const ir::Op& op, Slot slot)
{
    const auto arg = static_cast<std::size_t>(slot.arg);
    if (arg >= op.argInfo.size()) return false;
    const ir::ArgType type = op.argInfo[arg].type;
    return type == ir::ArgType::Int || type == ir::ArgType::IntList || op.name == "aten::arange";
}

// Whether its number goes behind offsets, where it is that of the edges at hand.
bool endsOffsets(const Analysis& analysis, const ir::Op& op)
{
    return operators::isFill(op.name) && std::ranges::any_of(analysis.program.ops, [&](const ir::Op& user) {
               bool used = false;
               ir::forEachOperand(user, [&](Slot, ValueId v) { used = used || v == op.outputs[0]; });
               return used && analysis.info(user.outputs[0]).compressed;
           });
}

Obstacle usesGlobalSize(const Analysis& analysis, const ir::Op& op)
{
    if (ir::isScalarOp(op) || endsOffsets(analysis, op)) return std::nullopt;
    Obstacle obstacle;
    ir::forEachOperand(op, [&](Slot slot, ValueId value) {
        const Use use = analysis.info(op.id).use(slot).use;
        if (!isSize(analysis.info(value)) || shapeArgument(op, slot) || use == Use::Shape || use == Use::Index) return;
        obstacle = ir::describeOp(op) + " computes with the number of rows of the whole graph";
    });
    return obstacle;
}

bool carriesIds(const Analysis& analysis, ValueId value)
{
    const ValueInfo& info = analysis.info(value);
    const bool offsets = info.compressed && info.compressed->part != analysis::OffsetsPart::Count;
    return offsets || info.role || !info.pairRoles.empty() || !info.elements.empty();
}

Obstacle usesRowNumbers(const Analysis& analysis, const ir::Op& op)
{
    if (operators::of(op.name).traits.keepsOrder || ir::isScalarOp(op)) return std::nullopt;
    const bool handsOn = std::any_of(op.outputs.begin(), op.outputs.end(),
                                     [&](ValueId v) { return carriesIds(analysis, v) || analysis.info(v).compressed; });
    Obstacle obstacle;
    ir::forEachOperand(op, [&](Slot slot, ValueId value) {
        const Use use = analysis.info(op.id).use(slot).use;
        const bool renumbered = use == Use::Index || use == Use::Shape || use == Use::SparseMatrix;
        if (renumbered || handsOn || !carriesIds(analysis, value)) return;
        if (analysis.info(op.id).kind == OpKind::Gather && use == Use::Source) return;
        obstacle = ir::describeOp(op) + " computes with row numbers, which a neighbourhood renumbers";
    });
    return obstacle;
}

Obstacle seesWholeStructure(const Analysis& analysis, const ir::Op& op)
{
    const std::string& reason = analysis.info(op.id).prologueReason;
    if (reason.empty() || operators::of(op.name).traits.keepsOrder || onlyMeasures(analysis, op)) return std::nullopt;
    return ir::describeOp(op) + " uses the structure of the whole graph (" + reason + ")";
}

// Operators that the outputs' numbers follow from; what only feeds a guard or a shape is not among them.
std::vector<bool> neededOperators(const Analysis& analysis)
{
    std::vector<bool> values(analysis.program.values.size()), ops(analysis.program.ops.size());
    for (const ir::NamedValue& output : analysis.program.outputs) values[output.value.at()] = true;
    for (auto op = analysis.program.ops.rbegin(); op != analysis.program.ops.rend(); ++op) {
        const bool needed =
            std::any_of(op->outputs.begin(), op->outputs.end(), [&](ValueId v) { return values[v.at()]; });
        if (!needed) continue;
        ops[op->id.at()] = true;
        ir::forEachOperand(*op, [&](Slot slot, ValueId v) {
            if (analysis.info(op->id).use(slot).use != Use::Shape) values[v.at()] = true;
        });
    }
    return ops;
}

Obstacle operatorObstacle(const Analysis& analysis, const ir::Op& op)
{
    using Check = Obstacle (*)(const Analysis&, const ir::Op&);
    constexpr Check checks[] = {reducesRows, usesGlobalSize, usesRowNumbers, seesWholeStructure};
    for (const Check check : checks)
        if (Obstacle obstacle = check(analysis, op)) return obstacle;
    return std::nullopt;
}

Obstacle valueObstacle(const Analysis& analysis, const ir::Value& value)
{
    if (value.origin == ir::Origin::Parameter && analysis.hasRows(value.id))
        return "the weight " + value.name +
               " has one row per row of a table, which cannot be restricted to a neighbourhood";
    return std::nullopt;
}

Obstacle outputObstacle(const Analysis& analysis, const ir::NamedValue& output)
{
    const ir::SpaceId table = analysis.rowSpace(output.value);
    if (!table.valid()) return "the output " + output.name + " has no rows to sample";
    const SpaceKind kind = analysis.tables.space(table).kind;
    if (kind == SpaceKind::Node || kind == SpaceKind::Edge) return std::nullopt;
    return "the output " + output.name + " is on the table \"" + analysis::tableLabel(analysis.tables, table) +
           "\", which is neither a node type nor a relation of the inputs";
}

}  // namespace

std::optional<std::string> sampledObstacle(const Analysis& analysis, const Structure& structure)
{
    if (!structure.unresolved.empty()) return structure.unresolved.front();
    for (const ir::NamedValue& output : analysis.program.outputs)
        if (Obstacle obstacle = outputObstacle(analysis, output)) return obstacle;
    for (const ir::Value& value : analysis.program.values)
        if (Obstacle obstacle = valueObstacle(analysis, value)) return obstacle;
    const std::vector<bool> needed = neededOperators(analysis);
    for (const ir::Op& op : analysis.program.ops)
        if (needed[op.id.at()])
            if (Obstacle obstacle = operatorObstacle(analysis, op)) return obstacle;
    return std::nullopt;
}

}  // namespace hopscope::verify
