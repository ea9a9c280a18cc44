#include "analysis/rows/cat_parts.h"

#include <algorithm>
#include <map>

#include "analysis/rows/chain.h"
#include "analysis/rows/linear.h"
#include "analysis/rows/other_rows.h"
#include "analysis/rows/part_numbers.h"

namespace hopscope::analysis {

namespace {

using ir::Arg;
using ir::ArgList;
using Rewritten = std::optional<base::Result<std::vector<ValueId>>>;

bool isCat(const RuleContext& c, SpaceId s) { return s.valid() && c.space(s).kind == SpaceKind::Cat; }

// The parts of x with these numbers; nothing where x is not computed row by row.
std::optional<std::vector<ValueId>> partsOf(Emitter& emitter, SpaceId cat, ValueId x, std::size_t first,
                                            std::size_t last)
{
    std::vector<ValueId> parts;
    for (std::size_t i = first; i < last; ++i) {
        parts.push_back(OtherRows::partOf(emitter, cat, i).of(x));
        if (!parts.back().valid()) return std::nullopt;
    }
    return parts;
}

Arg listOf(const std::vector<ValueId>& values)
{
    ArgList list;
    for (const ValueId v : values) list.push_back(Arg{v});
    return Arg{std::move(list)};
}

// ---- x.view(2, -1, 8), x.unflatten(0, (2, -1))

// True if the size is this number, or left to be inferred.
bool isSize(const RuleContext& c, const Arg& arg, const Linear& wanted)
{
    const auto size = c.linear(arg);
    return size && (*size == constant(-1) || *size == wanted);
}

// Whether the requested shape is that of x with the rows as parts by rows.
bool separates(const RuleContext& c, ValueId x, int d, const std::vector<Arg>& sizes)
{
    const std::vector<SpaceId>& parts = c.space(c.dim(x, d)).parts;
    if (static_cast<int>(sizes.size()) != c.rank(x) + 1) return false;
    for (int i = 0; i < c.rank(x); ++i) {
        const Linear own = c.dim(x, i).valid() ? sizeOf(c.dim(x, i)) : constant(c.extent(x, i));
        if (i != d && !isSize(c, sizes[static_cast<std::size_t>(i < d ? i : i + 1)], own)) return false;
    }
    const auto at = static_cast<std::size_t>(d);
    return isSize(c, sizes[at], constant(static_cast<std::int64_t>(parts.size()))) &&
           isSize(c, sizes[at + 1], sizeOf(parts[0]));
}

// All sizes that the operator asks for, those of unflatten among the others of x.
std::vector<Arg> requested(const RuleContext& c, ValueId x)
{
    if (c.name != "unflatten") return c.items(c.index("shape") >= 0 ? "shape" : "size");
    std::vector<Arg> sizes(static_cast<std::size_t>(c.rank(x)), Arg{std::int64_t{-1}});
    const auto at = sizes.begin() + wrapDim(c.integer("dim", 0), c.rank(x));
    const std::vector<Arg> own = c.items("sizes");
    sizes.insert(sizes.erase(at), own.begin(), own.end());
    return sizes;
}

Rewritten stacked(Emitter& emitter, const RuleContext& c, ValueId x, int d)
{
    const SpaceId cat = c.dim(x, d);
    const std::vector<SpaceId> parts = c.space(cat).parts;
    const bool alike = std::ranges::all_of(parts, [&](SpaceId part) { return part == parts[0]; });
    if (!alike || !separates(c, x, d, requested(c, x))) return std::nullopt;
    const auto values = partsOf(emitter, cat, x, 0, parts.size());
    if (!values) return std::nullopt;
    Chain chain(emitter, c.op);
    return chain.done(
        chain.call("stack", {listOf(*values), Arg{std::int64_t{d}}}, c.outputs[0].shape, c.outputs[0].dtype));
}

// ---- x[n:], x.narrow(0, n, n)

// The number of the boundary between parts where `size` rows end.
std::optional<std::size_t> boundaryAt(const RuleContext& c, SpaceId cat, const Linear& size)
{
    const std::vector<Linear> starts = startsOf(c, cat);
    const auto found = std::ranges::find(starts, size);
    return found == starts.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - starts.begin()));
}

// The start and the end of the range: for narrow from its length; without an end, up to the last row.
std::optional<std::pair<Linear, Linear>> rangeOf(const RuleContext& c, SpaceId cat)
{
    const bool narrow = c.name == "narrow";
    const auto start = c.has("start") ? c.linear(c.arg("start")) : constant(0);
    const Arg& until = c.arg(narrow ? "length" : "end");
    auto end = until.none() ? startsOf(c, cat).back() : c.linear(until);
    if (!start || !end || c.integer("step", 1) != 1) return std::nullopt;
    if (narrow) end = add(*start, *end);
    if (end->isConstant() && end->constant >= (std::int64_t{1} << 31)) end = startsOf(c, cat).back();
    return std::pair(fromFront(c, cat, *start), narrow ? *end : fromFront(c, cat, *end));
}

// Neighbouring parts as a table: one alone, or joined again.
ValueId joined(Chain& chain, const std::vector<ValueId>& parts, int d, const ir::Value& like)
{
    if (parts.size() == 1) return parts[0];
    return chain.call("cat", {listOf(parts), Arg{std::int64_t{d}}}, like.shape, like.dtype);
}

Rewritten cutOut(Emitter& emitter, const RuleContext& c, ValueId x, int d)
{
    const SpaceId cat = c.dim(x, d);
    const auto range = rangeOf(c, cat);
    const auto first = range ? boundaryAt(c, cat, range->first) : std::nullopt;
    const auto last = range ? boundaryAt(c, cat, range->second) : std::nullopt;
    if (!first || !last || *first >= *last || *last - *first == c.space(cat).parts.size()) return std::nullopt;
    const auto values = partsOf(emitter, cat, x, *first, *last);
    if (!values) return std::nullopt;
    Chain chain(emitter, c.op);
    return chain.done(joined(chain, *values, d, c.outputs[0]));
}

// ---- x.chunk(2), x.split(n), x.split([n, m])

// Whether the pieces are the parts, by the sizes that the operator is given.
bool piecesAreParts(const RuleContext& c, const std::vector<SpaceId>& parts)
{
    if (c.outputs.size() != parts.size()) return false;
    const bool alike = std::ranges::all_of(parts, [&](SpaceId part) { return part == parts[0]; });
    if (c.index("chunks") >= 0) return alike && c.integer("chunks", 0) == static_cast<std::int64_t>(parts.size());
    const std::vector<Arg> sizes = c.items(c.index("split_sizes") >= 0 ? "split_sizes" : "split_size");
    if (sizes.size() != parts.size() && (sizes.size() != 1 || !alike)) return false;
    for (std::size_t i = 0; i < sizes.size(); ++i)
        if (c.linear(sizes[i]) != std::optional(rowsOf(c.builder.analysis.tables, parts[i]))) return false;
    return true;
}

Rewritten pieces(Emitter& emitter, const RuleContext& c, ValueId x, int d)
{
    const SpaceId cat = c.dim(x, d);
    if (!piecesAreParts(c, c.space(cat).parts)) return std::nullopt;
    const auto values = partsOf(emitter, cat, x, 0, c.outputs.size());
    return values ? Rewritten(base::Result<std::vector<ValueId>>(*values)) : std::nullopt;
}

// ---- x[n], x[-1]: a row that was added to those of a table

Rewritten addedRow(Emitter& emitter, const RuleContext& c, ValueId x, int d)
{
    const SpaceId cat = c.dim(x, d);
    const auto position = c.linear(c.arg("index"));
    const auto place = position ? placeOf(c, cat, fromFront(c, cat, *position)) : std::nullopt;
    if (!place || !isAdded(c, c.space(cat).parts[place->part])) return std::nullopt;
    const ValueId rows = OtherRows::partOf(emitter, cat, place->part).of(x);
    if (!rows.valid()) return std::nullopt;
    Chain chain(emitter, c.op);
    return chain.done(chain.call("select.int", {Arg{rows}, Arg{std::int64_t{d}}, Arg{place->row}}, c.outputs[0].shape,
                                 c.outputs[0].dtype));
}

// ---- both[index + n], and sums into both by such numbers

// An operator that goes by an index into a table with `dim`.
struct Indexed {
    ValueId table, index;
    int dim = 0;
    std::size_t tableArg = 0, indexArg = 0;
    bool wide = false;  // the operator has the same numbers in each column of a matrix
};

std::optional<Indexed> indexedBy(const RuleContext& c, const char* table, const char* index)
{
    if (c.index(table) < 0 || c.index(index) < 0 || !c.tensor(table).valid()) return std::nullopt;
    Indexed found{.table = c.tensor(table), .index = c.tensor(index)};
    found.tableArg = static_cast<std::size_t>(c.index(table));
    found.indexArg = static_cast<std::size_t>(c.index(index));
    if (c.index("dim") >= 0) found.dim = wrapDim(c.integer("dim", 0), c.rank(found.table));
    if (c.name == "index") {
        const std::vector<Arg> list = c.items(index);
        if (list.size() != 1 || !list[0].value()) return std::nullopt;
        found.index = *list[0].value();
    }
    const bool usable =
        found.index.valid() && c.rank(found.table) > found.dim && isCat(c, c.dim(found.table, found.dim));
    if (!usable || !c.structure(found.index)) return std::nullopt;
    found.wide = c.rank(found.index) > 1;
    if (found.wide && (c.rank(found.index) != c.rank(found.table) || found.dim != 0)) return std::nullopt;
    for (int d = 1; found.wide && d < c.rank(found.table); ++d)
        if (c.extent(found.index, d) != c.extent(found.table, d)) return std::nullopt;
    if (found.wide) found.index = columnUnder(c, found.index);
    return found.index.valid() ? std::optional(found) : std::nullopt;
}

ir::Value withRows(const RuleContext& c, std::size_t dim, std::int64_t rows)
{
    ir::Value value = c.outputs[0];
    value.shape[dim] = rows;
    return value;
}

// The operator on one part, by numbers that begin with it.
base::Result<ValueId> onPart(Emitter& emitter, const RuleContext& c, const Indexed& x, ValueId table, ValueId ids,
                             const ir::Value& out, const std::map<std::size_t, ValueId>& others = {})
{
    ir::Op op = anew(c);
    op.args[x.tableArg] = Arg{table};
    op.args[x.indexArg] = c.name == "index" ? listOf({ids}) : Arg{ids};
    for (const auto& [arg, value] : others) op.args[arg] = Arg{value};
    const auto made = emitter.emit(std::move(op), {out});
    if (!made) return base::forward(made);
    return made->front();
}

// By an operator that refuses negative numbers, which would be rows of another part.
base::Result<ValueId> selectedRows(Emitter& emitter, const RuleContext& c, const Indexed& x, ValueId table, ValueId ids,
                                   const ir::Value& out)
{
    Chain chain(emitter, c.op);
    const auto made =
        chain.done(chain.call("index_select", {Arg{table}, Arg{std::int64_t{x.dim}}, Arg{ids}}, out.shape, out.dtype));
    if (!made) return base::forward(made);
    return made->front();
}

std::optional<Indexed> lookUp(const RuleContext& c)
{
    static const std::map<std::string, std::pair<const char*, const char*>> names{
        {"embedding", {"weight", "indices"}},
        {"index_select", {"self", "index"}},
        {"index", {"self", "indices"}},
        {"gather", {"self", "index"}},
        {"take_along_dim", {"self", "indices"}}};
    const auto it = names.find(c.name);
    return it == names.end() ? std::nullopt : indexedBy(c, it->second.first, it->second.second);
}

Rewritten lookUpInParts(Emitter& emitter, const RuleContext& c)
{
    const auto x = lookUp(c);
    if (!x) return std::nullopt;
    c.passOn({"sparse_grad"});
    const SpaceId cat = c.dim(x->table, x->dim);
    const std::vector<PartNumbers> parts = partsOfNumbers(emitter, c, cat, x->index);
    std::vector<ValueId> rows;
    for (const auto& [part, ids] : parts) {
        const ValueId table = OtherRows::partOf(emitter, cat, part).of(x->table);
        if (!table.valid()) return std::nullopt;
        const ir::Value out = withRows(c, static_cast<std::size_t>(x->dim), c.extent(ids, 0));
        const bool added = isAdded(c, c.space(cat).parts[part]) || x->wide;
        const auto made =
            added ? selectedRows(emitter, c, *x, table, ids, out) : onPart(emitter, c, *x, table, ids, out);
        if (!made) return base::Result<std::vector<ValueId>>(base::forward(made));
        rows.push_back(*made);
    }
    if (rows.empty()) return std::nullopt;
    Chain chain(emitter, c.op);
    return chain.done(joined(chain, rows, x->dim, c.outputs[0]));
}

// The messages of each column of the index: all of them, or the parts of a concatenation.
std::optional<std::vector<ValueId>> messagesOf(Emitter& emitter, const RuleContext& c, ValueId source,
                                               std::size_t count)
{
    if (count == 1) return std::vector{source};
    const SpaceId rows = c.rank(source) > 0 ? c.dim(source, 0) : SpaceId{};
    if (!isCat(c, rows) || c.space(rows).parts.size() != count) return std::nullopt;
    return partsOf(emitter, rows, source, 0, count);
}

// The numbers as an index of the operator: in each column of the messages where it wants that.
ValueId asIndex(Emitter& emitter, const RuleContext& c, const Indexed& x, ValueId ids, ValueId messages)
{
    if (!x.wide) return ids;
    std::vector<std::int64_t> narrow(c.shape(messages).size(), 1);
    narrow[0] = c.extent(ids, 0);
    ArgList size(narrow.size(), Arg{std::int64_t{1}});
    size[0] = Arg{std::int64_t{-1}};
    const std::vector<std::int64_t> shape = c.shape(messages);
    const base::DType dtype = c.value(ids).dtype;
    Chain chain(emitter, c.op);
    const ValueId column = chain.call("reshape", {Arg{ids}, Arg{size}}, narrow, dtype);
    const auto made = chain.done(chain.call("expand_as", {Arg{column}, Arg{messages}}, shape, dtype));
    return made ? made->front() : ValueId{};
}

// Sums go on where a part has rows of several columns; others have to combine all rows of a part at once.
bool combinesParts(const RuleContext& c, const std::vector<PartNumbers>& parts)
{
    if (c.name == "index_add" || c.name == "scatter_add") return true;
    std::set<std::size_t> once;
    for (const PartNumbers& numbers : parts)
        if (!once.insert(numbers.part).second) return false;
    return c.name == "index_reduce" || c.name == "scatter_reduce";
}

Rewritten addToParts(Emitter& emitter, const RuleContext& c)
{
    const char* const from = c.index("source") >= 0 ? "source" : "src";
    const auto x = c.index(from) < 0 ? std::nullopt : indexedBy(c, "self", "index");
    if (!x || x->dim != 0 || (x->wide && c.shape(c.tensor("index")) != c.shape(c.tensor(from)))) return std::nullopt;
    const SpaceId cat = c.dim(x->table, 0);
    const std::vector<PartNumbers> parts = partsOfNumbers(emitter, c, cat, x->index);
    if (parts.empty() || !combinesParts(c, parts)) return std::nullopt;
    const auto messages = messagesOf(emitter, c, c.tensor(from), parts.size());
    auto tables = messages ? partsOf(emitter, cat, x->table, 0, c.space(cat).parts.size()) : std::nullopt;
    if (!tables) return std::nullopt;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        ValueId& table = tables->at(parts[i].part);
        const std::int64_t rows = c.shape(table)[0];
        const std::map<std::size_t, ValueId> others{{static_cast<std::size_t>(c.index(from)), messages->at(i)}};
        const ValueId index = asIndex(emitter, c, *x, parts[i].ids, messages->at(i));
        if (!index.valid()) return std::nullopt;
        const auto made = onPart(emitter, c, *x, table, index, withRows(c, 0, rows), others);
        if (!made) return base::Result<std::vector<ValueId>>(base::forward(made));
        table = *made;
    }
    Chain chain(emitter, c.op);
    return chain.done(joined(chain, *tables, 0, c.outputs[0]));
}

// ---- columns of pairs of row numbers that are put together: torch.stack([row + n, col])[0], (index + n)[0]

std::int64_t sizeAt(const RuleContext& c, ValueId v, int d) { return c.shape(v)[static_cast<std::size_t>(d)]; }

// The same selection from something else that the pair is made of.
ValueId selected(Chain& chain, const RuleContext& c, ValueId from, int d, std::int64_t at)
{
    std::vector<std::int64_t> shape = c.shape(from);
    const base::DType dtype = c.value(from).dtype;
    shape.erase(shape.begin() + d);
    return chain.call("select.int", {Arg{from}, Arg{std::int64_t{d}}, Arg{at}}, shape, dtype);
}

Rewritten columnOf(Emitter& emitter, const RuleContext& c, const ir::Op& maker, int d, std::int64_t at)
{
    Chain chain(emitter, c.op);
    const int rank = static_cast<int>(c.outputs[0].shape.size()) + 1;
    const auto isAlong = [&](const Arg& dim) { return dim.integer() && wrapDim(*dim.integer(), rank) == d; };
    if (maker.name == "aten::stack" && isAlong(maker.args.at(1)))
        return chain.done(*maker.args.at(0).list()->at(static_cast<std::size_t>(at)).value());
    if (maker.name == "aten::cat" && maker.args.at(1).integer() && !isAlong(maker.args[1])) {
        std::vector<ValueId> columns;
        for (const Arg& part : *maker.args.at(0).list()) columns.push_back(selected(chain, c, *part.value(), d, at));
        return chain.done(joined(chain, columns, 0, c.outputs[0]));
    }
    const ArgList* const flipped = maker.name == "aten::flip" ? maker.args.at(1).list() : nullptr;
    if (flipped && flipped->size() == 1 && isAlong(flipped->front())) {
        const ValueId from = *maker.args.at(0).value();
        return chain.done(selected(chain, c, from, d, sizeAt(c, from, d) - 1 - at));
    }
    const bool shifts = (maker.name == "aten::add" || maker.name == "aten::sub") && c.linear(maker.args.at(1));
    if (!shifts) return std::nullopt;
    const ValueId* const by = maker.args[1].value();
    const bool number = !by || c.value(*by).kind != ir::ValueKind::Tensor;
    const std::string how = maker.name.substr(6) + (number ? ".Scalar" : ".Tensor");
    const ValueId column = selected(chain, c, *maker.args.at(0).value(), d, at);
    return chain.done(
        chain.call(how, {Arg{column}, maker.args[1], maker.args.at(2)}, c.outputs[0].shape, c.outputs[0].dtype));
}

Rewritten decomposePair(Emitter& emitter, const RuleContext& c)
{
    const ValueId x = c.tensor("self");
    if (c.name != "select" || !x.valid() || c.rank(x) != 2 || !c.structure(x) || !c.of(x).pairRoles.empty())
        return std::nullopt;
    const int d = wrapDim(c.integer("dim", 0), 2);
    const std::int64_t extent = sizeAt(c, x, d), at = c.integer("index", 0);
    if (c.isRow(c.dim(x, d)) || at < -extent || at >= extent || c.value(x).origin != ir::Origin::Op)
        return std::nullopt;
    const ir::Op maker = c.builder.analysis.program.op(c.value(x).producer);
    return columnOf(emitter, c, maker, d, at < 0 ? at + extent : at);
}

}  // namespace

Rewritten decomposeCatParts(Emitter& emitter, const RuleContext& c)
{
    using Step = Rewritten (*)(Emitter&, const RuleContext&, ValueId, int);
    static const std::map<std::string, Step> steps{
        {"view", stacked}, {"reshape", stacked}, {"unflatten", stacked},       {"slice", cutOut},    {"narrow", cutOut},
        {"chunk", pieces}, {"split", pieces},    {"split_with_sizes", pieces}, {"select", addedRow},
    };
    if (auto found = decomposePair(emitter, c)) return found;
    if (auto found = lookUpInParts(emitter, c)) return found;
    if (auto found = addToParts(emitter, c)) return found;
    const auto step = steps.find(c.name);
    const ValueId x = c.tensor("self");
    if (step == steps.end() || !x.valid()) return std::nullopt;
    const auto rows = std::ranges::find_if(c.dims(x), [&](SpaceId s) { return isCat(c, s); });
    const int d = static_cast<int>(rows - c.dims(x).begin());
    const bool along = c.index("dim") < 0 || wrapDim(c.integer("dim", 0), c.rank(x)) == d;
    return rows != c.dims(x).end() && along ? step->second(emitter, c, x, d) : std::nullopt;
}

}  // namespace hopscope::analysis
