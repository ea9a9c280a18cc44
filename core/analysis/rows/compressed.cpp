#include "analysis/rows/compressed.h"

#include <algorithm>
#include <limits>

#include "analysis/rows/bag_ids.h"
#include "analysis/rows/chain.h"
#include "analysis/rows/linear.h"

namespace hopscope::analysis {

namespace {

using ir::Arg;
using ir::ArgList;
using Rewritten = std::optional<base::Result<std::vector<ValueId>>>;

bool isPart(const RuleContext& c, ValueId v, OffsetsPart part)
{
    return v.valid() && c.of(v).compressed && c.of(v).compressed->part == part;
}

const Role& rowsOf(const RuleContext& c, ValueId part) { return c.of(part).compressed->rows; }

// For each edge the row that it belongs to; invalid if it is not written out.
ValueId columnOf(const RuleContext& c, ValueId part)
{
    const Compressed& compressed = *c.of(part).compressed;
    return compressed.column.valid() ? compressed.column : c.space(compressed.rows.space).columns[1];
}

Compressed as(Compressed compressed, OffsetsPart part)
{
    compressed.part = part;
    return compressed;
}

// An input with a row for each edge, and the dimension of these; an invalid one if there is none.
std::pair<ValueId, int> edgesIn(const Builder& b, SpaceId relation)
{
    for (const ir::NamedValue& input : b.analysis.program.inputs) {
        const std::vector<SpaceId>& dims = b.analysis.info(input.value).dims;
        const auto found = std::ranges::find(dims, relation);
        if (found != dims.end()) return {input.value, static_cast<int>(found - dims.begin())};
    }
    return {};
}

// The offsets of a relation, with the number of its edges behind them.
ValueId wholeOffsets(Chain& chain, Builder& b, SpaceId relation)
{
    const ValueId starts = b.analysis.tables.space(relation).offsets;
    if (b.analysis.info(starts).compressed->part == OffsetsPart::All) return starts;
    const base::DType dtype = b.analysis.program.value(starts).dtype;
    const std::vector<std::int64_t> all{b.analysis.program.value(starts).shape[0] + 1};
    const auto [edges, dim] = edgesIn(b, relation);
    const ValueId size =
        chain.number("scalar::size", {Arg{edges}, Arg{std::int64_t{dim}}}, b.analysis.sampleSizes[relation]);
    const ValueId last =
        chain.call("new_full", {Arg{starts}, Arg{ArgList{Arg{std::int64_t{1}}}}, Arg{size}}, {1}, dtype);
    return chain.call("cat", {Arg{ArgList{Arg{starts}, Arg{last}}}, Arg{std::int64_t{0}}}, all, dtype);
}

base::Result<ValueId> writeOut(Emitter& emitter, Builder& b, SpaceId relation)
{
    const ir::Value given = b.analysis.program.value(b.analysis.tables.space(relation).offsets);
    const std::vector<std::int64_t> edges{b.analysis.sampleSizes[relation]};
    Chain chain(emitter, ir::Op{});
    const ValueId offsets = wholeOffsets(chain, b, relation);
    const std::vector<std::int64_t> rows{b.analysis.program.value(offsets).shape[0] - 1};
    ValueId counts = chain.call("diff", {Arg{offsets}, Arg{std::int64_t{1}}, Arg{std::int64_t{-1}}}, rows, given.dtype);
    if (given.dtype != base::DType::Int64)
        counts = chain.call("to.dtype", {Arg{counts}, Arg{dtypeCode(base::DType::Int64)}, Arg{false}, Arg{false}}, rows,
                            base::DType::Int64);
    const ValueId ids = chain.call("repeat_interleave.Tensor", {Arg{counts}}, edges, base::DType::Int64);
    const auto done = chain.done(ids);
    if (!done) return base::forward(done);
    return ids;
}

}  // namespace

base::Status writeOffsetsOut(Emitter& emitter, Builder& b)
{
    for (std::size_t i = 0; i < b.analysis.tables.spaces.size(); ++i) {
        const SpaceId relation(i);
        const Space& s = b.analysis.tables.space(relation);
        const bool bags = !s.columns[0].valid() && s.ends[0] == s.ends[1];
        if (!s.offsets.valid() || !edgesIn(b, relation).first.valid() || (!bags && !s.columns[0].valid())) continue;
        const auto ids = writeOut(emitter, b, relation);
        if (!ids) return base::forward(ids);
        b.analysis.tables.spaces[i].columns[1] = *ids;
        if (bags) b.analysis.tables.spaces[i].columns[0] = *ids;
    }
    return {};
}

std::optional<Outcomes> partOfOffsets(RuleContext& c, ValueId x)
{
    if (!isPart(c, x, OffsetsPart::All) || c.integer("step", 1) != 1) return std::nullopt;
    const SpaceId rows = rowsOf(c, x).target;
    const std::int64_t start = c.integer("start", 0);
    const auto given = c.linear(c.arg(c.name == "narrow" ? "length" : "end"));
    const Linear whole = add(sizeOf(rows), constant(1));
    const bool open = !c.has("end") || (given && given->isConstant() && given->constant >= (std::int64_t{1} << 31));
    std::optional<Linear> end = open && c.name != "narrow" ? whole : given;
    if (end && c.name == "narrow") end = add(*end, constant(start));
    if (end && end->isConstant() && end->constant < 0) end = add(whole, *end);
    const bool ends = start == 1 && end == whole, begins = start == 0 && end == sizeOf(rows);
    if (!ends && !begins) return std::nullopt;
    Outcome o;
    o.dims = {rows};
    o.compressed = as(*c.of(x).compressed, ends ? OffsetsPart::End : OffsetsPart::Begin);
    return Outcomes{o};
}

std::optional<Compressed> countsOf(RuleContext& c)
{
    const ValueId end = c.tensor("self"), begin = c.tensor("other");
    if (c.name != "sub" || !isPart(c, end, OffsetsPart::End) || !isPart(c, begin, OffsetsPart::Begin))
        return std::nullopt;
    if (!(rowsOf(c, end) == rowsOf(c, begin)) || c.integer("alpha", 1) != 1) return std::nullopt;
    return as(*c.of(end).compressed, OffsetsPart::Count);
}

std::optional<Linear> lastOffset(RuleContext& c, ValueId x)
{
    if (!isPart(c, x, OffsetsPart::All) || c.integer("index", 0) != -1) return std::nullopt;
    return sizeOf(rowsOf(c, x).space);
}

std::optional<Outcomes> repeatedIds(RuleContext& c)
{
    const ValueId counts = c.tensor("repeats");
    if (c.tensor("self").valid() || !isPart(c, counts, OffsetsPart::Count)) return std::nullopt;
    Outcome o;
    o.role = rowsOf(c, counts);
    o.dims = {o.role->space};
    o.elements = {o.role->target};
    return Outcomes{o};
}

// Each row and the one before it, with a number in front of the first.
std::optional<Outcomes> stepsOf(RuleContext& c, ValueId x)
{
    const ValueId front = c.tensor("prepend");
    const bool one = front.valid() && c.rank(front) == 1 && c.extent(front, 0) == 1 && !c.anyRow(c.dims(front));
    if (!one || !c.structure(x) || !c.structure(front) || c.rank(x) != 1) return std::nullopt;
    if (c.integer("n", 1) != 1 || c.has("append")) return std::nullopt;
    c.info.prologueReason = "compares the rows of " + c.spaceName(c.dim(x, 0)) + " with those before them";
    return RuleContext::one(c.dims(x));
}

Ruled<Outcomes> differenceRule(RuleContext& c)
{
    const ValueId x = c.tensor("self");
    c.passOn({"dim"});
    const bool given = isPart(c, x, OffsetsPart::All) ? !c.has("append") : appendsSize(c, x);
    if (!given && c.anyRow(c.dims(x)))
        if (auto steps = stepsOf(c, x)) return *steps;
    if (!given || c.integer("n", 1) != 1 || c.has("prepend")) return opaqueRule(c);
    Outcome o;
    o.dims = {rowsOf(c, x).target};
    o.compressed = as(*c.of(x).compressed, OffsetsPart::Count);
    return Outcomes{o};
}

Ruled<Outcomes> uncompressRule(RuleContext& c)
{
    const ValueId offsets = c.tensor("crow_indices"), column = c.tensor("col_indices");
    const bool known = isPart(c, offsets, OffsetsPart::All) && c.of(column).role &&
                       c.of(column).role->space == rowsOf(c, offsets).space;
    if (!known) return opaqueRule(c);
    Outcome o;
    o.dims = {SpaceId{}, rowsOf(c, offsets).space};
    o.pairRoles = {rowsOf(c, offsets), *c.of(column).role};
    c.passOn({"out_int32"});
    if (c.boolean("transpose")) std::swap(o.pairRoles[0], o.pairRoles[1]);
    for (const Role& r : o.pairRoles) o.elements.insert(r.target);
    return Outcomes{o};
}

Ruled<Outcomes> compressRule(RuleContext& c)
{
    const ValueId column = c.tensor("self");
    const auto size = c.linear(c.arg("size"));
    if (!c.of(column).role || c.rank(column) != 1) {
        if (!c.structure(column) || !size || !size->isConstant()) return opaqueRule(c);
        c.passOn({"out_int32"});
        c.info.prologueReason = "counts the rows of each kind";
        return RuleContext::one({SpaceId{}});
    }
    const Role role = *c.of(column).role;
    if (!size || !(*size == sizeOf(role.target)))
        return Refusal(
            bakedSize("the number of offsets does not match the number of rows of " + c.spaceName(role.target)));
    c.passOn({"out_int32"});
    c.builder.useKey(role);
    Outcome o;
    o.dims = {SpaceId{}};
    o.compressed = {.rows = role, .part = OffsetsPart::All, .column = column};
    return Outcomes{o};
}

// Handles the cases that decomposeCompressed() leaves.
Ruled<Outcomes> segmentsRule(RuleContext& c)
{
    const ValueId data = c.tensor("data");
    if (!c.anyRow(c.dims(data))) return opaqueRule(c);
    return Refusal(Refused("reduces rows of " + c.spaceName(c.builder.analysis.rowSpace(data)) +
                               " in segments that do not follow the offsets of their destinations",
                           Refused::Kind::Offsets));
}

namespace {

Rewritten repeatedRows(Emitter& emitter, const RuleContext& c)
{
    const ValueId counts = c.tensor("repeats"), x = c.tensor("self");
    c.passOn({"output_size"});
    const SpaceId rows = rowsOf(c, counts).target;
    const ValueId ids = columnOf(c, counts);
    if (!ids.valid()) return std::nullopt;
    Chain chain(emitter, c.op);
    const base::DType dtype = c.outputs[0].dtype;
    if (!x.valid()) return chain.done(castTo(chain, c, ids, dtype));
    const int d = wrapDim(c.integer("dim", 0), c.rank(x));
    if ((!c.has("dim") && c.rank(x) != 1) || c.dim(x, d) != rows) return std::nullopt;
    const auto& role = c.of(x).role;
    const bool own = role && role->key == c.builder.analysis.tables.idKey() && role->space == role->target;
    if (own) return chain.done(castTo(chain, c, ids, dtype));
    return chain.done(chain.call("index_select", {Arg{x}, Arg{std::int64_t{d}}, Arg{ids}}, c.outputs[0].shape, dtype));
}

// The result for an empty segment; nullopt for unknown reductions.
std::optional<double> emptySegment(const RuleContext& c)
{
    const double infinity = std::numeric_limits<double>::infinity();
    const std::map<std::string, double> known{{"sum", 0},         {"mean", 0},       {"prod", 1},
                                              {"max", -infinity}, {"min", infinity}, {"amax", -infinity},
                                              {"amin", infinity}};
    const auto it = known.find(c.text("reduce"));
    if (it == known.end() || c.arg("initial").value()) return std::nullopt;
    const double* const given = std::get_if<double>(&c.arg("initial").data);
    const double initial = given ? *given : static_cast<double>(c.integer("initial", 0));
    if (c.has("initial") && it->first == "mean" && initial != 0) return std::nullopt;  // it would be a part of the sum
    return c.has("initial") ? initial : it->second;
}

// One number per row, shaped so that it meets whole rows of `like`.
ValueId beside(Chain& chain, const RuleContext& c, ValueId column, const std::vector<std::int64_t>& like)
{
    if (like.size() == 1) return column;
    std::vector<std::int64_t> shape(like.size(), 1);
    shape[0] = like[0];
    ArgList size(like.size(), Arg{std::int64_t{1}});
    size[0] = Arg{std::int64_t{-1}};
    return chain.call("reshape", {Arg{column}, Arg{size}}, shape, c.value(column).dtype);
}

ValueId reduced(Chain& chain, const RuleContext& c, ValueId table, ValueId ids)
{
    const ValueId data = c.tensor("data");
    const std::string how = c.text("reduce");
    const Arg rows{std::int64_t{0}};
    const auto& shape = c.outputs[0].shape;
    const base::DType dtype = c.outputs[0].dtype;
    if (how == "sum" || how == "mean")
        return chain.call("index_add", {Arg{table}, rows, Arg{ids}, Arg{data}, Arg{std::int64_t{1}}}, shape, dtype);
    ValueId wide = beside(chain, c, ids, c.shape(data));
    if (c.rank(data) > 1) wide = chain.call("expand_as", {Arg{wide}, Arg{data}}, c.shape(data), base::DType::Int64);
    const std::string name = how == "max" ? "amax" : how == "min" ? "amin" : how;
    return chain.call("scatter_reduce.two", {Arg{table}, rows, Arg{wide}, Arg{data}, Arg{name}, Arg{true}}, shape,
                      dtype);
}

// For each row the segment that it is in; invalid if that is not known.
ValueId segmentOfRows(Chain& chain, const RuleContext& c, ValueId given, ValueId counts)
{
    const ValueId data = c.tensor("data");
    if (isPart(c, given, c.has("lengths") ? OffsetsPart::Count : OffsetsPart::All))
        return c.dim(data, 0) == rowsOf(c, given).space ? columnOf(c, given) : ValueId{};
    const bool ofAll = c.builder.positions && c.structure(given) && c.rank(given) == 1 && !c.anyRow(c.dims(given));
    if (!ofAll || !c.isRow(c.dim(data, 0))) return {};
    const std::vector<std::int64_t> rows{c.shape(data)[0]};  // of the whole table, in their order
    const ValueId ids = chain.call("repeat_interleave.Tensor", {Arg{counts}}, rows, base::DType::Int64);
    const ValueId size = chain.number("scalar::size", {Arg{data}, Arg{std::int64_t{0}}}, rows[0]);
    return chain.call("reshape", {Arg{ids}, Arg{ArgList{Arg{size}}}}, rows, base::DType::Int64);
}

Rewritten segments(Emitter& emitter, const RuleContext& c)
{
    const ValueId data = c.tensor("data");
    const ValueId given = c.tensor(c.has("lengths") ? "lengths" : "offsets");
    c.passOn({"unsafe"});
    const auto empty = emptySegment(c);
    if (!given.valid() || !empty || c.has("indices") || c.integer("axis", 0) != 0) return std::nullopt;
    Chain chain(emitter, c.op);
    const auto& shape = c.outputs[0].shape;
    const base::DType dtype = c.outputs[0].dtype;
    const ValueId counts = c.has("lengths")
                               ? given
                               : chain.call("diff", {Arg{given}, Arg{std::int64_t{1}}, Arg{std::int64_t{-1}}},
                                            {shape[0]}, c.value(given).dtype);
    const ValueId ids = segmentOfRows(chain, c, given, counts);
    if (!ids.valid()) return std::nullopt;
    ArgList size{Arg{chain.number("scalar::size", {Arg{counts}, Arg{std::int64_t{0}}}, shape[0])}};
    for (std::size_t i = 1; i < shape.size(); ++i) size.push_back(Arg{shape[i]});
    const ValueId table = chain.call("new_full", {Arg{data}, Arg{size}, Arg{*empty}}, shape, dtype);
    const ValueId result = reduced(chain, c, table, ids);
    if (c.text("reduce") != "mean") return chain.done(result);
    const ValueId least = c.has("initial") ? chain.call("clamp", {Arg{counts}, Arg{std::int64_t{1}}, {}}, {shape[0]},
                                                        c.value(counts).dtype)
                                           : counts;  // without an initial number, empty segments are not a number
    const ValueId divisor = beside(chain, c, castTo(chain, c, least, dtype), shape);
    return chain.done(chain.call("div.Tensor", {Arg{result}, Arg{divisor}}, shape, dtype));
}

}  // namespace

Rewritten decomposeCompressed(Emitter& emitter, const RuleContext& c)
{
    if (c.name == "repeat_interleave" && isPart(c, c.tensor("repeats"), OffsetsPart::Count))
        return repeatedRows(emitter, c);
    if (c.name == "segment_reduce") return segments(emitter, c);
    return std::nullopt;
}

}  // namespace hopscope::analysis
