#include "analysis/rows/bag_ids.h"

#include <algorithm>

#include "analysis/rows/chain.h"
#include "analysis/rows/linear.h"
#include "operators/operators.h"

namespace hopscope::analysis {

namespace {

using ir::Arg;
using operators::Rule;
using Rewritten = std::optional<base::Result<std::vector<ValueId>>>;

const Compressed* partOf(const RuleContext& c, ValueId v)
{
    return v.valid() && c.of(v).compressed ? &*c.of(v).compressed : nullptr;
}

bool isPart(const RuleContext& c, ValueId v, OffsetsPart part)
{
    const Compressed* const offsets = partOf(c, v);
    return offsets && offsets->part == part;
}

const ir::Op* producerOf(const RuleContext& c, ValueId v)
{
    const ir::Value& value = c.value(v);
    return value.origin == ir::Origin::Op ? &c.builder.analysis.program.op(value.producer) : nullptr;
}

Outcomes offsets(Compressed compressed, OffsetsPart part, SpaceId dim)
{
    Outcome o;
    o.dims = {dim};
    compressed.part = part;
    o.compressed = compressed;
    return {o};
}

bool isSizeOf(const RuleContext& c, ValueId v, SpaceId table)
{
    const auto number = v.valid() ? numberIn(c, v) : std::nullopt;
    return number && *number == sizeOf(table);
}

}  // namespace

std::optional<Linear> numberIn(const RuleContext& c, ValueId v)
{
    if (c.of(v).size) return c.of(v).size;
    const bool one = std::ranges::all_of(c.shape(v), [](std::int64_t extent) { return extent == 1; });
    const ir::Op* const op = one && !c.anyRow(c.dims(v)) ? producerOf(c, v) : nullptr;
    if (!op) return std::nullopt;
    const Rule rule = operators::of(op->name).rule;
    if (rule == Rule::Fill) {
        const ir::Arg* const number = ir::argument(*op, "fill_value");
        return number ? c.linear(*number) : std::nullopt;
    }
    const bool shapes = rule == Rule::Copy || rule == Rule::Expand || rule == Rule::Reshape || rule == Rule::Unsqueeze;
    const ir::Arg* const from = shapes ? ir::argument(*op, "self") : nullptr;
    return from && from->value() ? numberIn(c, *from->value()) : std::nullopt;
}

std::optional<Outcomes> innerOffsets(RuleContext& c, ValueId x)
{
    const bool open = c.name == "slice" && (!c.has("end") || c.integer("end", 0) >= (std::int64_t{1} << 31));
    if (!isPart(c, x, OffsetsPart::Begin) || !open || c.integer("start", 0) != 1 || c.integer("step", 1) != 1)
        return std::nullopt;
    return offsets(*partOf(c, x), OffsetsPart::Inner, {});
}

std::optional<Outcomes> joinedOffsets(RuleContext& c, const std::vector<ValueId>& parts)
{
    const Compressed* const first = parts.size() == 2 ? partOf(c, parts[0]) : nullptr;
    const bool begins = first && first->part == OffsetsPart::Begin, inner = first && first->part == OffsetsPart::Inner;
    if ((!begins && !inner) || c.rank(parts[1]) != 1 || !isSizeOf(c, parts[1], first->rows.space)) return std::nullopt;
    return offsets(*first, begins ? OffsetsPart::All : OffsetsPart::End, begins ? SpaceId{} : first->rows.target);
}

bool appendsSize(const RuleContext& c, ValueId x)
{
    const ValueId behind = c.tensor("append");
    const bool one = behind.valid() && c.rank(behind) == 1 && c.extent(behind, 0) == 1;
    return one && isPart(c, x, OffsetsPart::Begin) && isSizeOf(c, behind, partOf(c, x)->rows.space);
}

namespace {

bool isOwnPlace(const RuleContext& c, ValueId v, SpaceId rows)
{
    const auto role = v.valid() ? c.of(v).role : std::nullopt;
    return role && role->space == rows && role->target == rows && c.rank(v) == 1;
}

Rewritten searched(Emitter& emitter, const RuleContext& c)
{
    const bool sorted = c.name == "searchsorted";
    const ValueId offsets = c.tensor(sorted ? "sorted_sequence" : "boundaries"), places = c.tensor("self");
    const Compressed* const part = partOf(c, offsets);
    const bool right = c.boolean("right") || (sorted && c.has("side") && c.text("side") == "right");
    if (!part || part->part == OffsetsPart::Count || !right || (sorted && c.has("sorter"))) return std::nullopt;
    const ValueId ids = part->column.valid() ? part->column : c.space(part->rows.space).columns[1];
    if (!ids.valid() || !isOwnPlace(c, places, part->rows.space)) return std::nullopt;
    c.passOn({"out_int32"});
    Chain chain(emitter, c.op);
    const ValueId cast = castTo(chain, c, ids, c.outputs[0].dtype);
    if (part->part == OffsetsPart::End || part->part == OffsetsPart::Inner) return chain.done(cast);
    const Arg one{std::int64_t{1}};
    return chain.done(chain.call("add.Scalar", {Arg{cast}, one, one}, c.outputs[0].shape, c.outputs[0].dtype));
}

// A literal, or a constant of the file.
std::optional<std::int64_t> literal(const RuleContext& c, const ir::Arg& arg)
{
    if (arg.integer()) return *arg.integer();
    if (!arg.value() || !c.shape(*arg.value()).empty()) return std::nullopt;
    const ir::Value& value = c.value(*arg.value());
    if (value.literal.size() != 1 || !base::isIntegral(value.dtype)) return std::nullopt;
    return static_cast<std::int64_t>(value.literal[0]);
}

// The number that `op` adds to its first operand; nullopt if that is no literal.
std::optional<std::int64_t> added(const RuleContext& c, const ir::Op& op)
{
    const bool adds = op.name == "aten::add", takes = op.name == "aten::sub";
    const ir::Arg* const other = ir::argument(op, "other");
    const ir::Arg* const alpha = ir::argument(op, "alpha");
    const bool once = !alpha || !alpha->integer() || *alpha->integer() == 1;
    const auto number = other && once && (adds || takes) ? literal(c, *other) : std::nullopt;
    if (!number) return std::nullopt;
    return adds ? *number : -*number;
}

// ids + 1 - 1
Rewritten addedAndTaken(const RuleContext& c)
{
    const auto last = added(c, c.op);
    const ValueId x = c.tensor("self");
    const ir::Op* const before = last && x.valid() ? producerOf(c, x) : nullptr;
    const auto first = before ? added(c, *before) : std::nullopt;
    const ir::Arg* const from = first && *first + *last == 0 ? ir::argument(*before, "self") : nullptr;
    if (!from || !from->value() || !c.of(*from->value()).role) return std::nullopt;
    if (c.value(*from->value()).dtype != c.outputs[0].dtype) return std::nullopt;
    c.passOnAll();
    return std::vector<ValueId>{*from->value()};
}

}  // namespace

Rewritten decomposeBagIds(Emitter& emitter, const RuleContext& c)
{
    if (c.name == "searchsorted" || c.name == "bucketize") return searched(emitter, c);
    return c.name == "add" || c.name == "sub" ? addedAndTaken(c) : std::nullopt;
}

}  // namespace hopscope::analysis
