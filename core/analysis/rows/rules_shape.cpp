// Rules of views and of operators that move, join or repeat dimensions.

#include <algorithm>

#include "analysis/lowering/reshape.h"
#include "analysis/rows/bag_ids.h"
#include "analysis/rows/compressed.h"
#include "analysis/rows/linear.h"
#include "analysis/rows/rules.h"
#include "operators/operators.h"

namespace hopscope::analysis {

namespace {

std::vector<std::int64_t> pseudoShape(RuleContext& c, ValueId v)
{
    std::vector<std::int64_t> shape = c.shape(v);
    for (std::size_t i = 0; i < shape.size(); ++i)
        if (c.dims(v)[i].valid()) shape[i] = pseudoSize(c.dims(v)[i]);
    return shape;
}

// The value of a size on pseudo sizes; atoms count as an unknown that matches nothing.
std::int64_t pseudoValue(const Linear& l)
{
    std::int64_t value = l.constant;
    for (const auto& [space, k] : l.sizes) value += k * pseudoSize(space);
    for (const auto& [id, k] : l.atoms) value += k * (std::int64_t{1000003} + 7 * id.index);
    return value;
}

std::vector<std::int64_t> requestedShape(RuleContext& c)
{
    std::vector<std::int64_t> shape;
    for (const ir::Arg& a : c.items(c.index("shape") >= 0 ? "shape" : "size")) {
        const auto l = c.linear(a);
        shape.push_back(l ? pseudoValue(*l) : -2);
    }
    return shape;
}

std::vector<std::int64_t> flattened(RuleContext& c, const std::vector<std::int64_t>& shape, int rank)
{
    const int first = wrapDim(c.integer("start_dim", 0), rank), last = wrapDim(c.integer("end_dim", -1), rank);
    if (shape.empty()) return {1};
    std::vector<std::int64_t> out(shape.begin(), shape.begin() + first);
    std::int64_t product = 1;
    for (int i = first; i <= last; ++i) product *= shape[static_cast<std::size_t>(i)];
    out.push_back(product);
    out.insert(out.end(), shape.begin() + last + 1, shape.end());
    return out;
}

Ruled<std::vector<std::int64_t>> squeezed(RuleContext& c, ValueId x, const std::vector<std::int64_t>& shape)
{
    std::vector<std::int64_t> dims = c.integers("dim");
    if (!c.has("dim"))
        for (int i = 0; i < c.rank(x); ++i) dims.push_back(i);
    std::vector<std::int64_t> out;
    for (int i = 0; i < c.rank(x); ++i) {
        const bool named =
            std::any_of(dims.begin(), dims.end(), [&](std::int64_t d) { return wrapDim(d, c.rank(x)) == i; });
        if (named && c.isRow(c.dim(x, i)) && c.extent(x, i) == 1) return Refusal("squeezes rows away");
        if (!(named && shape[static_cast<std::size_t>(i)] == 1)) out.push_back(shape[static_cast<std::size_t>(i)]);
    }
    return out;
}

Ruled<std::vector<std::int64_t>> unflattened(RuleContext& c, ValueId x, const std::vector<std::int64_t>& shape)
{
    const int d = wrapDim(c.integer("dim", 0), c.rank(x));
    if (c.isRow(c.dim(x, d))) return Refusal(Refused("splits the rows into several dimensions", Refused::Kind::Merged));
    const std::size_t n = c.items("sizes").size();
    std::vector<std::int64_t> out(shape.begin(), shape.begin() + d);
    for (std::size_t i = 0; i < n; ++i) out.push_back(c.outputs[0].shape[static_cast<std::size_t>(d) + i]);
    out.insert(out.end(), shape.begin() + d + 1, shape.end());
    return out;
}

Ruled<std::vector<std::int64_t>> targetShape(RuleContext& c, ValueId x, const std::vector<std::int64_t>& shape)
{
    if (c.name == "squeeze") return squeezed(c, x, shape);
    if (c.name == "unflatten") return unflattened(c, x, shape);
    if (c.name == "flatten" || c.name == "ravel") return flattened(c, shape, c.rank(x));
    if (c.name == "view_as" || c.name == "reshape_as") return pseudoShape(c, c.tensor("other"));
    return resolveMinusOne(shape, requestedShape(c));
}

// The number of elements of a value of the prologue, even if its operators have split and merged its rows.
std::optional<Linear> countOf(const RuleContext& c, ValueId v)
{
    Linear count = constant(1);
    for (int d = 0; d < c.rank(v); ++d) {
        const SpaceId s = c.dim(v, d);
        if (s.valid() && c.space(s).kind == SpaceKind::Opaque) {
            using operators::Rule;
            static const std::set<Rule> keeping{Rule::Copy, Rule::Flip, Rule::Permute, Rule::Reshape, Rule::Unsqueeze};
            const ir::Value& value = c.value(v);
            if (value.origin != ir::Origin::Op) return std::nullopt;
            const ir::Op& op = c.builder.analysis.program.op(value.producer);
            const bool keeps = keeping.contains(operators::of(op.name).rule) && op.args.at(0).value();
            return keeps ? countOf(c, *op.args[0].value()) : std::nullopt;
        }
        const auto product = combine("mul", {count, s.valid() ? sizeOf(s) : constant(c.extent(v, d))});
        if (!product) return std::nullopt;
        count = *product;
    }
    return count;
}

// Numbers of the prologue that are as many as a table has rows, by the size that is asked for or by their count: one for each
// of its rows.
std::optional<Outcomes> statedRows(RuleContext& c, ValueId x)
{
    if (!c.builder.positions || !c.structure(x) || c.outputs[0].shape.size() != 1) return std::nullopt;
    const std::vector<ir::Arg> sizes = c.items(c.index("shape") >= 0 ? "shape" : "size");
    const auto stated = sizes.size() == 1 ? c.linear(sizes[0]) : std::nullopt;
    const auto count = stated && *stated != constant(-1) ? stated : countOf(c, x);
    const auto table = count ? c.spaceOf(*count) : Ruled<SpaceId>(Refusal(""));
    if (!table || !c.isRow(*table)) return std::nullopt;
    c.info.prologueReason = "puts rows of " + c.spaceName(*table) + " in a different order";
    return c.one({*table});
}

}  // namespace

Ruled<Outcomes> reshapeRule(RuleContext& c)
{
    const ValueId x = c.tensor("self");
    if (c.of(x).compressed && c.outputs[0].shape == c.shape(x)) {
        c.passOnAll();
        c.same = x;  // the number of offsets does not depend on the edges
        return c.one(c.dims(x));
    }
    if (!c.of(x).pairRoles.empty() && c.outputs[0].shape == c.shape(x)) return c.keep(x, c.dims(x), true);
    const std::vector<std::int64_t> shape = pseudoShape(c, x);
    const auto target = targetShape(c, x, shape);
    if (!target) return Refusal(target.error());
    const auto dims = regroup(shape, c.dims(x), *target, [&](SpaceId s) { return s.valid(); });
    if (dims && dims->size() == c.outputs[0].shape.size()) return c.keep(x, *dims);
    if (auto stated = statedRows(c, x)) return *stated;
    return Refusal(Refused("mixes the rows with another dimension", Refused::Kind::Merged));
}

Ruled<Outcomes> unsqueezeRule(RuleContext& c)
{
    const ValueId x = c.tensor("self");
    const int d = wrapDim(c.integer("dim", 0), c.rank(x) + 1);
    std::vector<SpaceId> dims = c.dims(x);
    dims.insert(dims.begin() + d, SpaceId{});
    return c.keep(x, dims, d > 0);
}

Ruled<Outcomes> expandRule(RuleContext& c)
{
    const ValueId x = c.tensor("self");
    c.passOn({"implicit"});
    std::vector<SpaceId> wanted;
    if (c.name == "expand_as") wanted = c.dims(c.tensor("other"));
    else
        for (const ir::Arg& size : c.items("size")) {
            const auto space = c.spaceOf(size);
            if (!space) return Refusal(space.error());
            wanted.push_back(*space);
        }
    const std::size_t pad = wanted.size() - c.dims(x).size();
    std::vector<SpaceId> dims(wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const bool inside = i >= pad;
        const SpaceId own = inside ? c.dims(x)[i - pad] : SpaceId{};
        const std::int64_t extent = inside ? c.shape(x)[i - pad] : 1;
        if (c.isRow(own) && c.isRow(wanted[i]) && own != wanted[i])
            return Refusal("rows of " + c.spaceName(own) + " expanded to " + c.spaceName(wanted[i]));
        if (!own.valid() && extent != 1 && c.isRow(wanted[i])) return Refusal(constantMeets(c, extent, wanted[i]));
        const std::int64_t other = c.name == "expand_as" ? c.extent(c.tensor("other"), static_cast<int>(i)) : 1;
        if (c.isRow(own) && !wanted[i].valid() && other != 1) return Refusal(constantMeets(c, other, own));
        dims[i] = own.valid() ? own : (extent == 1 ? wanted[i] : SpaceId{});
    }
    return c.keep(x, dims);
}

Ruled<Outcomes> repeatRule(RuleContext& c)
{
    const ValueId x = c.tensor("self");
    const std::vector<ir::Arg> repeats = c.items(c.name == "repeat" ? "repeats" : "dims");
    const std::size_t rank = std::max(repeats.size(), c.dims(x).size());
    std::vector<SpaceId> dims(rank);
    for (std::size_t i = 0; i < rank; ++i) {
        const std::size_t back = rank - i;
        const bool inside = back <= c.dims(x).size();
        const SpaceId own = inside ? c.dims(x)[c.dims(x).size() - back] : SpaceId{};
        const std::int64_t extent = inside ? c.shape(x)[c.shape(x).size() - back] : 1;
        const auto times = back <= repeats.size() ? c.linear(repeats[repeats.size() - back]) : constant(1);
        if (c.isRow(own) && (!times || *times != constant(1)))
            return Refusal(Refused("repeats the rows of " + c.spaceName(own), Refused::Kind::Repeated));
        dims[i] = own;
        if (own.valid() || !times || times->isConstant()) continue;
        if (extent != 1) return Refusal("repeats what belongs to no table, with a count that depends on the graph");
        const auto space = c.spaceOf(*times);
        if (!space) return Refusal(space.error());
        dims[i] = *space;
    }
    return c.keep(x, dims);
}

Ruled<Outcomes> repeatInterleaveRule(RuleContext& c)
{
    const ValueId x = c.tensor("self");
    c.passOn({"output_size"});
    if (auto ids = repeatedIds(c)) return *ids;
    if (x.valid() && c.integer("repeats", 0) == 1 && (c.has("dim") || c.rank(x) == 1)) return c.keep(x, c.dims(x));
    if (!x.valid() || !c.has("dim")) return Refusal(Refused("repeats rows", Refused::Kind::Repeated));
    const SpaceId rows = c.dim(x, wrapDim(c.integer("dim", 0), c.rank(x)));
    if (c.isRow(rows)) return Refusal(Refused("repeats the rows of " + c.spaceName(rows), Refused::Kind::Repeated));
    return c.one(c.dims(x));
}

namespace {

std::vector<int> permutationOf(RuleContext& c, int rank)
{
    std::vector<int> p;
    for (int i = 0; i < rank; ++i) p.push_back(i);
    if (c.name == "permute") {
        const std::vector<std::int64_t> dims = c.integers("dims");
        for (int i = 0; i < rank; ++i)
            p[static_cast<std::size_t>(i)] = wrapDim(dims[static_cast<std::size_t>(i)], rank);
    } else if (c.name == "t" || c.name == "numpy_T") {
        std::reverse(p.begin(), p.end());
    } else if (c.name == "movedim") {
        p = movedDims(c.integers("source"), c.integers("destination"), rank);
    } else if (rank > 0) {
        const int i = wrapDim(c.integer("dim0", 0), rank);
        const int j = wrapDim(c.integer("dim1", 0), rank);
        std::swap(p[static_cast<std::size_t>(i)], p[static_cast<std::size_t>(j)]);
    }
    return p;
}

// The dimension along which a [2, E]-like tensor holds its pair of index columns.
int pairDim(RuleContext& c, ValueId x)
{
    for (int i = 0; i < c.rank(x); ++i)
        if (!c.isRow(c.dim(x, i))) return i;
    return -1;
}

}  // namespace

Ruled<Outcomes> permuteRule(RuleContext& c)
{
    const ValueId x = c.tensor("self");
    const std::vector<int> order = permutationOf(c, c.rank(x));
    std::vector<SpaceId> dims;
    for (int i : order) dims.push_back(c.dim(x, i));
    if (const ValueInfo& matrix = c.of(x); matrix.sparse) {
        Outcome turned;
        turned.dims = std::move(dims);
        turned.sparse = true;
        turned.sparseRow = matrix.sparseRow;
        turned.sparseColumn = matrix.sparseColumn;
        if (order[0] != 0) std::swap(turned.sparseRow, turned.sparseColumn);
        return Outcomes{turned};
    }
    // The pair of roles stays attached to whichever dimension is not the rows.
    return c.keep(x, dims, true);
}

Ruled<Outcomes> selectRule(RuleContext& c)
{
    const ValueId x = c.tensor("self");
    const int d = wrapDim(c.integer("dim", 0), c.rank(x));
    std::vector<SpaceId> dims = c.dims(x);
    dims.erase(dims.begin() + d);
    const std::vector<Role>& pair = c.of(x).pairRoles;
    if (!pair.empty() && d == pairDim(c, x)) {
        if (c.integer("index", 0) == unknownNumber) return c.keep(x, dims);
        const int i = wrapDim(c.integer("index", 0), static_cast<int>(pair.size()));
        Outcome o;
        o.dims = dims;
        o.role = pair[static_cast<std::size_t>(i)];
        o.elements = {o.role->target};
        return Outcomes{o};
    }
    if (c.isRow(c.dim(x, d)))
        return Refusal(Refused("picks one row of " + c.spaceName(c.dim(x, d)), Refused::Kind::Position));
    c.passOn({"index"});
    Outcomes result = c.keep(x, dims);
    result[0].size = lastOffset(c, x);
    return result;
}

namespace {

// x[0:], x[:size(0)] and the like take every row.
bool fullRange(RuleContext& c, ValueId x, int d)
{
    if (c.name != "slice" || c.integer("start", 0) != 0 || c.integer("step", 1) != 1) return false;
    if (!c.has("end")) return true;
    const auto end = c.linear(c.arg("end"));
    if (!end) return false;
    if (end->isConstant()) return end->constant >= (std::int64_t{1} << 31);
    return c.dim(x, d).valid() && *end == sizeOf(c.dim(x, d));
}

std::vector<Role> sliceOf(const std::vector<Role>& roles, std::int64_t start, std::int64_t end, std::int64_t step)
{
    const std::int64_t n = static_cast<std::int64_t>(roles.size());
    if (start < 0) start += n;
    if (end < 0) end += n;
    std::vector<Role> picked;
    for (std::int64_t i = std::max<std::int64_t>(start, 0); i < std::min(end, n); i += step)
        picked.push_back(roles[static_cast<std::size_t>(i)]);
    return picked;
}

bool isFixed(const RuleContext& c, const ir::Arg& number)
{
    if (number.list()) return std::ranges::all_of(*number.list(), [&](const ir::Arg& one) { return isFixed(c, one); });
    const auto known = c.linear(number);
    return known && known->isConstant();
}

// A range of what belongs to no table, such as the first rows of a weight, has to be as long on any graph.
std::optional<Refusal> variableRange(const RuleContext& c, std::initializer_list<const char*> numbers)
{
    if (std::ranges::all_of(numbers, [&](const char* name) { return !c.has(name) || isFixed(c, c.arg(name)); }))
        return std::nullopt;
    return Refusal(Refused("picks a range whose bounds depend on the graph, in a dimension without rows of a table",
                           Refused::Kind::Derived));
}

}  // namespace

Ruled<Outcomes> sliceRule(RuleContext& c)
{
    const ValueId x = c.tensor("self");
    const int d = wrapDim(c.integer("dim", 0), c.rank(x));
    if (fullRange(c, x, d)) {
        c.same = x;
        return c.one(c.dims(x));
    }
    if (auto inner = innerOffsets(c, x)) return *inner;
    if (c.isRow(c.dim(x, d)))
        return Refusal(Refused("picks a range of rows of " + c.spaceName(c.dim(x, d)), Refused::Kind::Position));
    c.passOn({"start", "end", "length", "step"});
    if (auto part = partOfOffsets(c, x)) return *part;
    if (auto refusal = variableRange(c, {"start", "end", "length"})) return *refusal;
    Outcomes result = c.keep(x, c.dims(x), true);
    if (!result[0].pairRoles.empty() && d == pairDim(c, x)) {
        const std::int64_t start = c.integer("start", 0);
        const std::int64_t end = c.name == "narrow" ? start + c.integer("length", 1) : c.integer("end", 1 << 30);
        const std::int64_t step = c.integer("step", 1);
        if (std::min({start, end, step}) <= unknownNumber / 2) result[0].pairRoles.clear();
        else result[0].pairRoles = sliceOf(result[0].pairRoles, start, end, step);
    }
    return result;
}

Ruled<Outcomes> splitRule(RuleContext& c)
{
    const ValueId x = c.tensor("self");
    const int d = wrapDim(c.integer("dim", 0), c.rank(x));
    // Models that compute rows in chunks to save memory have one chunk where they have enough.
    const bool whole = c.name != "unbind" && c.integer("chunks", c.integer("sections", 0)) == 1;
    if (c.isRow(c.dim(x, d)) && !whole)
        return Refusal(Refused("splits the rows of " + c.spaceName(c.dim(x, d)), Refused::Kind::Parts));
    c.passOn({"chunks", "split_size", "split_sizes", "sections", "indices"});
    if (auto refusal = variableRange(c, {"split_size", "split_sizes", "sections", "indices"})) return *refusal;
    const std::vector<Role>& pair = c.of(x).pairRoles;
    const bool along = !pair.empty() && d == pairDim(c, x);
    Outcomes result;
    std::size_t at = 0;
    for (const ir::Value& piece : c.outputs) {
        Outcome o = c.keep(x, c.dims(x))[0];
        const std::size_t rows =
            c.name == "unbind" ? 1 : static_cast<std::size_t>(piece.shape[static_cast<std::size_t>(d)]);
        if (along && at + rows <= pair.size()) {
            if (c.name == "unbind") o.role = pair[at];
            else
                o.pairRoles.assign(pair.begin() + static_cast<std::ptrdiff_t>(at),
                                   pair.begin() + static_cast<std::ptrdiff_t>(at + rows));
        }
        if (c.name == "unbind") o.dims.erase(o.dims.begin() + d);
        at += rows;
        result.push_back(std::move(o));
    }
    return result;
}

Ruled<Outcomes> flipRule(RuleContext& c)
{
    const ValueId x = c.tensor("self");
    Outcomes result = c.keep(x, c.dims(x), true);
    c.passOn({"shifts"});
    std::vector<std::int64_t> dims = c.integers("dims");
    if (dims.empty())  // roll without dims works on the flattened tensor
        for (int d = 0; d < c.rank(x); ++d) dims.push_back(d);
    for (std::int64_t dim : dims) {
        const int d = wrapDim(dim, c.rank(x));
        if (c.isRow(c.dim(x, d)) && c.builder.positions && c.structure(x)) {
            result[0].role.reset();  // other numbers for each row, but as many
            result[0].pairRoles.clear();
            c.info.prologueReason = "changes the order of the rows of " + c.spaceName(c.dim(x, d));
            continue;
        }
        if (c.isRow(c.dim(x, d)))
            return Refusal(
                Refused("changes the order of the rows of " + c.spaceName(c.dim(x, d)), Refused::Kind::Position));
        if (result[0].pairRoles.empty() || d != pairDim(c, x)) continue;
        if (c.name != "flip") result[0].pairRoles.clear();
        std::reverse(result[0].pairRoles.begin(), result[0].pairRoles.end());
    }
    return result;
}

Ruled<Outcomes> padRule(RuleContext& c)
{
    const ValueId x = c.tensor("self");
    const std::vector<std::int64_t> pad = c.integers("pad");
    c.passOn({"mode", "value"});
    for (std::size_t i = 0; i + 1 < pad.size(); i += 2) {
        const int d = c.rank(x) - 1 - static_cast<int>(i / 2);
        if (!c.isRow(c.dim(x, d)) || (pad[i] == 0 && pad[i + 1] == 0)) continue;
        const std::string rows = c.spaceName(c.dim(x, d));
        if (pad[i] > 0 || pad[i + 1] > 0) return Refusal(Refused("adds rows to " + rows, Refused::Kind::Added));
        return Refusal(Refused("removes rows of " + rows + " by position", Refused::Kind::Position));
    }
    return c.one(c.dims(x));
}

// select_scatter, slice_scatter: a part of some other dimension is overwritten.
Ruled<Outcomes> putBackRule(RuleContext& c)
{
    const ValueId x = c.tensor("self"), src = c.tensor("src");
    const int d = wrapDim(c.integer("dim", 0), c.rank(x));
    if (c.isRow(c.dim(x, d))) {
        const bool whole = c.name == "slice_scatter" && c.integer("start", 0) == 0 && c.integer("step", 1) == 1 &&
                           c.integer("end", std::int64_t{1} << 31) >= (std::int64_t{1} << 31);
        if (!whole)
            return Refusal(
                Refused("overwrites some rows of " + c.spaceName(c.dim(x, d)) + " by position", Refused::Kind::Parts));
        c.same = src;
        return c.one(c.dims(x));
    }
    c.passOn({"index", "start", "end", "step"});
    std::vector<SpaceId> other = c.dims(src);
    std::vector<std::int64_t> extents = c.shape(src);
    if (c.name == "select_scatter") {
        other.insert(other.begin() + d, SpaceId{});
        extents.insert(extents.begin() + d, 1);
    } else {
        extents[static_cast<std::size_t>(d)] = 1;
    }
    std::vector<std::int64_t> own = c.shape(x);
    own[static_cast<std::size_t>(d)] = 1;
    const auto dims = c.broadcast({{c.dims(x), own}, {other, extents}});
    if (!dims) return Refusal(dims.error());
    return c.one(*dims);
}

}  // namespace hopscope::analysis
