#include "analysis/rows/first_rows.h"

#include "analysis/rows/chain.h"

namespace hopscope::analysis {

namespace {

using ir::Arg;

// The other node table whose rows are counted by the end of the slice; invalid if there is none.
SpaceId targetsOf(const RuleContext& c, SpaceId rows)
{
    const bool slice = c.name == "slice" || c.name == "narrow";
    const char* const end = c.name == "slice" ? "end" : "length";
    if (!slice || c.integer("start", 0) != 0 || c.integer("step", 1) != 1 || !c.has(end)) return {};
    const auto size = c.linear(c.arg(end));
    if (!size || size->isConstant()) return {};
    const auto table = c.spaceOf(*size);
    if (!table || !table->valid() || *table == rows) return {};
    return c.space(*table).kind == SpaceKind::Node ? *table : SpaceId{};
}

}  // namespace

std::optional<base::Result<std::vector<ValueId>>> decomposeFirstRows(Emitter& emitter, const RuleContext& c)
{
    const ValueId x = c.tensor("self");
    if (!x.valid() || (c.name != "slice" && c.name != "narrow")) return std::nullopt;
    const int d = wrapDim(c.integer("dim", 0), c.rank(x));
    const SpaceId rows = c.dim(x, d);
    if (!rows.valid() || c.space(rows).kind != SpaceKind::Node) return std::nullopt;
    const SpaceId targets = targetsOf(c, rows);
    if (!targets.valid()) return std::nullopt;
    Chain chain(emitter, c.op);
    const std::vector<std::int64_t> shape = c.outputs[0].shape;
    const std::int64_t count = shape[static_cast<std::size_t>(d)];
    const base::DType dtype = c.outputs[0].dtype, number = base::DType::Int64;
    const Arg end = c.arg(c.name == "slice" ? "end" : "length"), none{}, one{std::int64_t{1}};
    const ValueId numbers = chain.call("arange", {end, Arg{dtypeCode(number)}, none, none, none}, {count}, number);
    // A value of its own for each table that is looked up: the numbers alone are those of the targets' rows.
    const ValueId offset =
        chain.call("sub.Scalar", {Arg{numbers}, Arg{std::int64_t{rows.index}}, one}, {count}, number);
    const ValueId ids = chain.call("add.Scalar", {Arg{offset}, Arg{std::int64_t{rows.index}}, one}, {count}, number);
    if (!ids.valid()) return chain.done(ids);
    Builder& b = emitter.builder();
    const Role role{.space = targets, .key = b.foreign(ids), .target = rows};
    b.analysis.values[ids.at()].role = role;
    b.analysis.values[ids.at()].elements = {rows};
    b.useKey(role);
    return chain.done(chain.call("index_select", {Arg{x}, Arg{std::int64_t{d}}, Arg{ids}}, shape, dtype));
}

}  // namespace hopscope::analysis
