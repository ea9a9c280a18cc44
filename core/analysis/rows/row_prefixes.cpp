#include "analysis/rows/row_prefixes.h"

#include "analysis/rows/chain.h"
#include "analysis/rows/linear.h"
#include "analysis/rows/other_rows.h"
#include "operators/operators.h"

namespace hopscope::analysis {

namespace {

using ir::Arg;
using ir::ArgList;
using Rewritten = std::optional<base::Result<std::vector<ValueId>>>;

// The mask that tells the first rows of a table, if `part` are these.
std::optional<ValueId> prefixMask(const RuleContext& c, SpaceId part)
{
    if (!part.valid() || c.space(part).kind != SpaceKind::Filter) return std::nullopt;
    for (const auto& [rows, mask] : c.builder.rowParts)
        if (mask == c.space(part).selector && rows.rows == c.space(part).parent && rows.start == constant(0) &&
            rows.step == 1)
            return mask;
    return std::nullopt;
}

// The only index of the operator, and the dimension that it is for.
ValueId indexOf(const RuleContext& c, int& d)
{
    const char* const argument = c.index("index") >= 0 ? "index" : "indices";
    if (c.tensor(argument).valid()) return c.tensor(argument);
    const std::vector<Arg> list = c.items(argument);
    ValueId found;
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (!list[i].value()) continue;
        if (found.valid()) return {};
        found = *list[i].value();
        d = static_cast<int>(i);
    }
    return found;
}

const char* tableArgument(const RuleContext& c) { return c.name == "embedding" ? "weight" : "self"; }

// The operator on the whole table.
ValueId onWhole(Emitter& emitter, const RuleContext& c, ValueId whole, const std::vector<std::int64_t>& shape)
{
    ir::Op op = anew(c);
    op.args[static_cast<std::size_t>(c.index(tableArgument(c)))] = Arg{whole};
    ir::Value out = c.outputs[0];
    out.shape = shape;
    const auto made = emitter.emit(std::move(op), {out});
    return made ? made->front() : ValueId{};
}

}  // namespace

bool isPrefix(const RuleContext& c, SpaceId part) { return prefixMask(c, part).has_value(); }

Rewritten decomposePrefixes(Emitter& emitter, const RuleContext& c)
{
    using operators::Rule;
    const Rule rule = operators::of(c.op.name).rule;
    const bool reads =
        rule == Rule::Index || rule == Rule::IndexSelect || rule == Rule::Embedding || rule == Rule::Gather;
    const bool writes = rule == Rule::Scatter || rule == Rule::IndexPut;
    const ValueId x = c.tensor(tableArgument(c));
    if ((!reads && !writes) || !x.valid() || c.rank(x) == 0) return std::nullopt;
    int d = wrapDim(c.integer("dim", 0), c.rank(x));
    const ValueId index = indexOf(c, d);
    const SpaceId part = c.dim(x, d);
    const auto mask = index.valid() ? prefixMask(c, part) : std::nullopt;
    if (!mask || !c.of(index).role || c.of(index).role->target != c.space(part).parent) return std::nullopt;
    const std::int64_t count = c.builder.analysis.sampleSizes.at(c.space(part).parent);
    const ValueId whole = OtherRows::wholeOf(emitter, part, count).of(x);
    if (!whole.valid()) return std::nullopt;
    std::vector<std::int64_t> shape = c.outputs[0].shape;
    if (writes) shape[static_cast<std::size_t>(d)] = count;
    const ValueId result = onWhole(emitter, c, whole, shape);
    if (!result.valid()) return std::nullopt;
    if (reads) return base::Result<std::vector<ValueId>>(std::vector{result});
    ArgList selected(static_cast<std::size_t>(d));
    selected.push_back(Arg{*mask});
    Chain chain(emitter, c.op);
    return chain.done(
        chain.call("index.Tensor", {Arg{result}, Arg{std::move(selected)}}, c.outputs[0].shape, c.outputs[0].dtype));
}

namespace {

// The unsorted values of a sorted table: an operand of the sorting with the rows in their first order.
ValueId sortedFrom(const RuleContext& c, SpaceId sorted)
{
    const ir::Program& program = c.builder.analysis.program;
    const ir::Value& order = program.value(c.space(sorted).selector);
    if (order.origin != ir::Origin::Op) return {};
    const ir::Op& op = program.op(order.producer);
    for (const Arg& arg : op.args)
        if (arg.value() && c.rank(*arg.value()) == 1 && c.dim(*arg.value(), 0) == c.space(sorted).parent)
            return *arg.value();
    return {};
}

// The order itself as an index of rows: each row is written once.
bool putsBack(const RuleContext& c, ValueId index, SpaceId sorted)
{
    const auto& role = c.of(index).role;
    return role && role->space == sorted && role->target == c.space(sorted).parent &&
           role->key == c.builder.analysis.tables.posKey();
}

}  // namespace

Rewritten decomposeUnsorting(Emitter& emitter, const RuleContext& c)
{
    if (c.name != "index_put" || c.boolean("accumulate")) return std::nullopt;
    const ValueId x = c.tensor("self"), source = c.tensor("values");
    int d = 0;
    const ValueId index = indexOf(c, d);
    if (!index.valid() || d != 0 || c.rank(x) == 0 || c.rank(source) != c.rank(x)) return std::nullopt;
    const SpaceId sorted = c.dim(x, 0);
    if (!sorted.valid() || c.space(sorted).kind != SpaceKind::Perm || c.dim(source, 0) != sorted) return std::nullopt;
    const ValueId from = sortedFrom(c, sorted);
    if (!from.valid() || !putsBack(c, index, sorted)) return std::nullopt;
    const std::vector<std::int64_t> shape = c.outputs[0].shape;
    Chain chain(emitter, c.op);
    ArgList size{Arg{chain.number("scalar::size", {Arg{from}, Arg{std::int64_t{0}}}, shape[0])}};
    for (std::size_t i = 1; i < shape.size(); ++i) size.push_back(Arg{shape[i]});
    const ValueId table =
        chain.call("new_full", {Arg{source}, Arg{std::move(size)}, Arg{std::int64_t{0}}}, shape, c.outputs[0].dtype);
    return chain.done(table.valid() ? onWhole(emitter, c, table, shape) : table);
}

}  // namespace hopscope::analysis
