#include "analysis/rows/neighbours.h"

#include "analysis/rows/chain.h"

namespace hopscope::analysis {

namespace {

using ir::Arg;
using ir::ArgList;

constexpr std::int64_t mostColumns = 256;  // an operator each

struct LookUp {
    ValueId source, table;
    bool wraps = false;  // negative numbers count from the end
};

std::optional<LookUp> lookUp(const RuleContext& c)
{
    if (c.name == "embedding")
        return LookUp{.source = c.tensor("weight"), .table = c.tensor("indices"), .wraps = false};
    if (c.name != "index") return std::nullopt;
    const std::vector<Arg> indices = c.items("indices");
    if (indices.size() != 1 || !indices[0].value()) return std::nullopt;
    return LookUp{.source = c.tensor("self"), .table = *indices[0].value(), .wraps = true};
}

bool fits(const RuleContext& c, const LookUp& l)
{
    if (c.rank(l.table) != 2 || !base::isIntegral(c.value(l.table).dtype) || !c.structure(l.table)) return false;
    const SpaceId rows = c.dim(l.table, 0), target = c.rank(l.source) > 0 ? c.dim(l.source, 0) : SpaceId{};
    const auto isNode = [&](SpaceId s) { return s.valid() && c.space(s).kind == SpaceKind::Node; };
    return isNode(rows) && isNode(target) && !c.dim(l.table, 1).valid() && c.extent(l.table, 1) <= mostColumns;
}

ValueId wrapped(Chain& chain, const RuleContext& c, const LookUp& l)
{
    const std::vector<std::int64_t> shape(c.shape(l.table).begin(),
                                          c.shape(l.table).end());  // emitting moves the original
    const base::DType dtype = c.value(l.table).dtype;
    const ValueId size = chain.number("scalar::size", {Arg{l.source}, Arg{std::int64_t{0}}}, c.extent(l.source, 0));
    const ValueId below = chain.call("lt.Scalar", {Arg{l.table}, Arg{std::int64_t{0}}}, shape, base::DType::Bool);
    const ValueId shift = chain.call("mul.Scalar", {Arg{below}, Arg{size}}, shape, base::DType::Int64);
    return chain.call("add.Tensor", {Arg{l.table}, Arg{shift}, Arg{std::int64_t{1}}}, shape,
                      dtype == base::DType::Int32 ? base::DType::Int64 : dtype);
}

// Column k of the table as a key into the rows it names.
ValueId column(Chain& chain, Builder& b, const RuleContext& c, const LookUp& l, ValueId table, std::int64_t k)
{
    const ValueId ids = chain.call("select.int", {Arg{table}, Arg{std::int64_t{1}}, Arg{k}}, {c.extent(l.table, 0)},
                                   b.analysis.program.value(table).dtype);
    if (!ids.valid()) return ids;
    const Role role{.space = c.dim(l.table, 0), .key = b.foreign(ids), .target = c.dim(l.source, 0)};
    ValueInfo& info = b.analysis.values[ids.at()];
    info.role = role;
    info.elements = {role.target};
    b.useKey(role);
    return ids;
}

}  // namespace

std::optional<base::Result<std::vector<ValueId>>> decomposeNeighbours(Emitter& emitter, const RuleContext& c)
{
    const auto l = lookUp(c);
    if (!l || !l->source.valid() || !fits(c, *l)) return std::nullopt;
    c.passOn({"padding_idx", "scale_grad_by_freq", "sparse"});  // about gradients
    Chain chain(emitter, c.op);
    const ValueId table = l->wraps ? wrapped(chain, c, *l) : l->table;
    if (!table.valid()) return chain.done(table);
    std::vector<std::int64_t> one = c.shape(l->source);
    one[0] = c.extent(l->table, 0);
    ArgList columns;
    for (std::int64_t k = 0; k < c.extent(l->table, 1); ++k) {
        const ValueId ids = column(chain, emitter.builder(), c, *l, table, k);
        columns.push_back(
            Arg{chain.call("index_select", {Arg{l->source}, Arg{std::int64_t{0}}, Arg{ids}}, one, c.outputs[0].dtype)});
    }
    return chain.done(
        chain.call("stack", {Arg{columns}, Arg{std::int64_t{1}}}, c.outputs[0].shape, c.outputs[0].dtype));
}

}  // namespace hopscope::analysis
