#include "analysis/rows/largest_index.h"

#include "analysis/rows/chain.h"
#include "analysis/rows/linear.h"
#include "analysis/rows/other_rows.h"
#include "analysis/rows/rules.h"

namespace hopscope::analysis {

using ir::Arg;
using ir::ArgList;

SpaceId indexedTable(const RuleContext& c, ValueId x)
{
    const ValueInfo& v = c.of(x);
    const bool index = v.elements.size() == 1 && v.structureOnly && base::isIntegral(c.value(x).dtype);
    return index ? *v.elements.begin() : SpaceId{};
}

namespace {

// bincount(index) without a number of rows, or with 1, which any index has.
bool countsUpToLargest(const RuleContext& c)
{
    const std::int64_t least = c.integer("minlength", 0);
    return c.name == "bincount" && (least == 0 || least == 1);
}

bool measures(const RuleContext& c)
{
    return countsUpToLargest(c) || (c.name == "max" && !c.has("dim") && !c.has("other"));
}

ValueId numbering(Chain& chain, Emitter& emitter, SpaceId table, const ir::Op& place)
{
    Builder& b = emitter.builder();
    if (const auto known = b.rowNumbers.find(table); known != b.rowNumbers.end()) return known->second;
    const ValueId count = rowCount(emitter, table, place);
    if (!count.valid()) return {};
    const Arg none{};
    const ValueId made = chain.call("arange", {Arg{count}, Arg{dtypeCode(base::DType::Int64)}, none, none, none},
                                    {b.analysis.sampleSizes.at(table)}, base::DType::Int64);
    if (made.valid()) b.rowNumbers.emplace(table, made);
    return made;
}

}  // namespace

base::Status countLargestIndex(Emitter& emitter, const RuleContext& c)
{
    Builder& b = emitter.builder();
    const ValueId x = c.tensor("self");
    if (!b.prefixes || !x.valid() || !measures(c)) return {};
    const SpaceId table = indexedTable(c, x);
    const bool nodes = table.valid() && c.space(table).kind == SpaceKind::Node;
    if (!nodes || !b.analysis.sampleSizes.contains(table)) return {};
    Chain chain(emitter, c.op);
    const ValueId numbers = numbering(chain, emitter, table, c.op);
    if (!numbers.valid()) return {};
    // Another operator than the one that the number of rows comes from: the mask may not follow from its own count.
    const ValueId largest = chain.call("amax", {Arg{x}, Arg{ArgList{}}, Arg{false}}, {}, c.value(x).dtype);
    const ValueId mask =
        chain.call("le.Tensor", {Arg{numbers}, Arg{largest}}, {b.analysis.sampleSizes.at(table)}, base::DType::Bool);
    if (const auto made = chain.done(mask); !made) return base::forward(made);
    b.rowParts.emplace_back(RowPart{.rows = table, .start = constant(0), .end = add(atom(largest), constant(1))}, mask);
    b.counted.emplace(x, b.filter(table, mask));
    return {};
}

std::optional<base::Result<std::vector<ValueId>>> decomposeBincount(Emitter& emitter, const RuleContext& c)
{
    const ValueId x = c.tensor("self");
    const auto counted = emitter.builder().counted.find(x);
    if (c.name != "bincount" || counted == emitter.builder().counted.end()) return std::nullopt;
    const auto least = c.linear(c.arg("minlength"));
    if (!countsUpToLargest(c) && least != sizeOf(counted->second)) return std::nullopt;
    const Space part = c.space(counted->second);
    const std::int64_t rows = emitter.builder().analysis.sampleSizes.at(part.parent);
    ir::Op whole = anew(c);
    whole.args[static_cast<std::size_t>(c.index("minlength"))] = Arg{rowCount(emitter, part.parent, c.op)};
    ir::Value out = c.outputs[0];
    out.shape = {rows};
    const auto made = emitter.emit(std::move(whole), {out});
    if (!made) return made;
    Chain chain(emitter, c.op);
    const Arg mask{ArgList{Arg{part.selector}}};
    return chain.done(chain.call("index.Tensor", {Arg{made->front()}, mask}, c.outputs[0].shape, out.dtype));
}

Ruled<Outcomes> bincountRule(RuleContext& c)
{
    const ValueId x = c.tensor("self");
    const auto& role = c.of(x).role;
    const auto length = c.linear(c.arg("minlength"));
    auto space = length ? c.spaceOf(*length) : Ruled<SpaceId>(SpaceId{});
    if (role && length && length->isConstant() && length->constant == c.space(role->target).rows) space = role->target;
    if (role && countsUpToLargest(c)) {
        space = role->target;
        c.builder.analysis.maxIndexGuards.push_back({.index = x, .space = *space, .op = c.op.id});
    }
    if (!role)
        return Refusal(Refused("bincount of numbers that are not known to be row numbers", Refused::Kind::Roles));
    if (!space || *space != role->target)
        return Refusal(Refused("bincount whose minlength is not the number of rows to which its input points",
                               Refused::Kind::Counting));
    c.info.kind = OpKind::Aggregate;
    c.info.role = *role;
    c.use(c.slot("self"), Use::Index);
    if (c.tensor("weights").valid()) c.use(c.slot("weights"), Use::Message);
    c.builder.useKey(*role);
    return c.one({role->target});
}

}  // namespace hopscope::analysis
