// Rules of element-wise operators, fills, and operators that work along dimensions other than that of the rows.

#include <algorithm>

#include "analysis/rows/compressed.h"
#include "analysis/rows/largest_index.h"
#include "analysis/rows/linear.h"
#include "analysis/rows/row_prefixes.h"
#include "analysis/rows/rules.h"

namespace hopscope::analysis {

namespace {

// Sizes survive arithmetic on 0-dim tensors: tracing writes x.size(0) + 1 that way.
std::optional<Linear> sizeArithmetic(RuleContext& c)
{
    static const std::map<std::string, std::string> names{
        {"add", "add"}, {"sub", "sub"},     {"rsub", "sub"},    {"mul", "mul"},
        {"neg", "neg"}, {"maximum", "max"}, {"minimum", "min"}, {"floor_divide", "floordiv"}};
    const bool floored = c.name == "div" && (c.text("rounding_mode") == "floor" || c.text("rounding_mode") == "trunc");
    const auto it = names.find(floored ? "floor_divide" : c.name);
    if (it == names.end() || (c.has("alpha") && c.integer("alpha", 0) != 1)) return std::nullopt;
    std::vector<Linear> operands;
    for (const char* name : {"self", "other"}) {
        if (!c.has(name)) continue;
        const auto l = c.linear(c.arg(name));
        if (!l) return std::nullopt;
        operands.push_back(*l);
    }
    if (c.name == "rsub") std::ranges::reverse(operands);
    return combine(it->second, operands);
}

// True if it contains every number of a row.
bool holdsRowNumbers(base::DType dtype)
{
    using base::DType;
    return dtype == DType::Int64 || dtype == DType::Int32 || dtype == DType::Float64;
}

// One weight for all elements, or for each place in the second dimension.
Ruled<Outcomes> preluRule(RuleContext& c)
{
    const ValueId x = c.tensor("self");
    const std::vector<std::int64_t>& weights = c.shape(c.tensor("weight"));
    const bool several = !weights.empty() && weights[0] > 1;
    if (several && c.rank(x) > 1 && c.isRow(c.dim(x, 1)))
        return Refusal(Refused("has one weight for each row of " + c.spaceName(c.dim(x, 1)), Refused::Kind::Slopes));
    return c.one(c.dims(x));
}

// The mean or the sum of losses.
Ruled<Outcomes> lossOfAll(RuleContext& c, const std::vector<SpaceId>& dims)
{
    for (const SpaceId s : dims)
        if (c.isRow(s))
            return Refusal(Refused("reduces over the rows of " + c.spaceName(s), Refused::Kind::Statistics));
    return c.all({});
}

}  // namespace

Ruled<Outcomes> pointwiseRule(RuleContext& c)
{
    if (c.name == "prelu") return preluRule(c);
    const auto dims = c.broadcastOperands();
    if (!dims) return Refusal(dims.error());
    if (c.integer("reduction", 0) != 0) return lossOfAll(c, *dims);
    c.passOnAll();
    Outcomes result = c.all(*dims);
    if (dims->empty()) result[0].size = sizeArithmetic(c);
    result[0].compressed = countsOf(c);
    return result;
}

// Casts and copies keep the numbers and their roles, unless the dtype is too narrow for row numbers.
Ruled<Outcomes> copyRule(RuleContext& c)
{
    const ValueId x = c.tensor("self");
    c.passOn({"dtype", "other"});
    if (c.outputs[0].dtype != c.value(x).dtype && !holdsRowNumbers(c.outputs[0].dtype)) return c.one(c.dims(x));
    Outcomes result = c.keep(x, c.dims(x), true);
    result[0].size = c.of(x).size;
    result[0].compressed = c.of(x).compressed;
    return result;
}

Ruled<Outcomes> fillRule(RuleContext& c)
{
    c.passOn({"dtype", "fill_value"});
    if (c.name.ends_with("_like")) return c.one(c.dims(c.tensor("self")));
    std::vector<SpaceId> dims;
    for (const ir::Arg& size : c.items("size")) {
        const auto space = c.spaceOf(size);
        if (!space) return Refusal(space.error());
        dims.push_back(*space);
    }
    return c.one(dims);
}

namespace {

// The length of an arange: arange(1, |S| + 1) has |S| numbers, as has arange(0, 2 * |S|, 2).
std::optional<Linear> numbersOf(const RuleContext& c, const Linear& end)
{
    const auto start = c.has("start") ? c.linear(c.arg("start")) : constant(0);
    const std::int64_t step = c.integer("step", 1);
    if (!start || step < 1) return std::nullopt;
    Linear count = add(end, *start, -1);
    const auto whole = [&](const auto& size) { return size.second % step == 0; };
    if (count.constant % step != 0 || !std::ranges::all_of(count.sizes, whole) || (step > 1 && !count.atoms.empty()))
        return std::nullopt;
    count.constant /= step;
    for (auto& [table, times] : count.sizes) times /= step;
    return count;
}

}  // namespace

// arange(|S|) is the row numbers of S.
Ruled<Outcomes> arangeRule(RuleContext& c)
{
    const auto end = c.linear(c.arg("end"));
    c.passOn({"dtype"});
    if (!end) return c.one({SpaceId{}});
    if (end->isConstant() && c.integer("start", 0) >= 0) return c.one({SpaceId{}});
    const auto count = numbersOf(c, *end);
    const auto space = count ? c.spaceOf(*count) : Ruled<SpaceId>(Refusal(""));
    if (!space)
        return Refusal(Refused("arange over a number that is not the size of a table", Refused::Kind::Counting));
    Outcome o;
    o.dims = {*space};
    const Tables& tables = c.builder.analysis.tables;
    const bool plain = c.integer("step", 1) == 1 && holdsRowNumbers(c.outputs[0].dtype);
    if (c.isRow(*space) && *count == *end && plain) {
        // Position is that in the parent for rows that were selected or sorted; of the first ones it is the same.
        const SpaceKind kind = c.space(*space).kind;
        const SpaceId table = isPrefix(c, *space) ? c.space(*space).parent : *space;
        const KeyId key = c.space(table).kind == SpaceKind::Node ? tables.idKey() : tables.posKey();
        if (table != *space || (kind != SpaceKind::Filter && kind != SpaceKind::Perm))
            o.role = Role{.space = *space, .key = key, .target = table};
        o.elements = {table};
    }
    return Outcomes{o};
}

namespace {

// sort and argsort of a structure vector: a permutation of its table.
Ruled<Outcomes> permutation(RuleContext& c, ValueId x, SpaceId rows)
{
    const ValueId order(c.builder.analysis.program.values.size() + c.outputs.size() - 1);  // the last output, soon
    const SpaceId space = c.builder.perm(rows, order);
    Outcome index;
    index.dims = {space};
    index.role = Role{.space = space, .key = c.builder.analysis.tables.posKey(), .target = rows};
    index.elements = {rows};
    if (c.outputs.size() == 1) return Outcomes{index};
    Outcome sorted;
    sorted.dims = {space};
    if (c.of(x).role) sorted.role = Role{.space = space, .key = c.of(x).role->key, .target = c.of(x).role->target};
    sorted.elements = c.of(x).elements;
    return Outcomes{sorted, index};
}

// The rows among the dimensions that the operator works along, if any.
SpaceId rowsAlong(RuleContext& c, ValueId x)
{
    std::vector<std::int64_t> along = c.integers(c.index("axis") >= 0 ? "axis" : "dim");
    if (along.empty() && !c.name.ends_with("n")) along.push_back(-1);
    for (int d = 0; d < c.rank(x); ++d) {
        const bool named = std::ranges::any_of(along, [&](std::int64_t a) { return wrapDim(a, c.rank(x)) == d; });
        if (c.isRow(c.dim(x, d)) && (named || along.empty())) return c.dim(x, d);
    }
    return {};
}

}  // namespace

// softmax, sort, fft2, ...: along dimensions that must not be the rows.
Ruled<Outcomes> dimwiseRule(RuleContext& c)
{
    const ValueId x = c.tensor("self");
    c.passOn({"dtype", "descending", "stable", "k", "largest", "sorted", "n", "s", "norm", "value", "quant_min",
              "quant_max"});
    if (c.rank(x) == 0) return c.all({});
    const SpaceId rows = rowsAlong(c, x);
    if (!rows.valid()) return c.all(c.dims(x));
    if (c.structure(x) && c.rank(x) == 1 && (c.name == "argsort" || c.name == "sort")) return permutation(c, x, rows);
    if (c.name == "index_fill")
        return Refusal(Refused("overwrites some rows of " + c.spaceName(rows) + " by position", Refused::Kind::Parts));
    if (c.name.find("fft") != std::string::npos)
        return Refusal(Refused("needs all rows of " + c.spaceName(rows) + " at once", Refused::Kind::AllRows));
    return Refusal(Refused("works over the rows of " + c.spaceName(rows) + " in sequence", Refused::Kind::AllRows));
}

Ruled<Outcomes> layerNormRule(RuleContext& c)
{
    const ValueId x = c.tensor("input");
    c.passOn({"eps", "cudnn_enable"});
    const std::size_t normalised = c.items("normalized_shape").size();
    const std::vector<SpaceId>& d = c.dims(x);
    for (std::size_t i = d.size() - std::min(normalised, d.size()); i < d.size(); ++i)
        if (c.isRow(d[i]))
            return Refusal(Refused("normalises over the rows of " + c.spaceName(d[i]), Refused::Kind::Statistics));
    Outcomes result = c.all(d);
    for (std::size_t i = 1; i < result.size(); ++i) result[i].dims.back() = SpaceId{};  // native_layer_norm: mean, rstd
    return result;
}

// With statistics that were kept, or of places in each row. decompose() takes batch statistics over rows apart.
Ruled<Outcomes> normRule(RuleContext& c)
{
    const ValueId x = c.tensor("input");
    c.passOn({"eps", "momentum", "cudnn_enabled", "num_groups"});
    const bool batchStatistics = c.boolean("training") || c.boolean("use_input_stats");
    const std::vector<SpaceId>& d = c.dims(x);
    if (c.name == "batch_norm" && batchStatistics && c.anyRow(d))
        return Refusal(Refused("normalises over a batch whose channels are the rows", Refused::Kind::Statistics));
    const bool acrossPlaces = c.name == "group_norm" || batchStatistics;
    if (c.name == "instance_norm" && d.size() > 1 && c.isRow(d[1])) return Refusal("the rows are the channels");
    if (acrossPlaces)
        for (std::size_t i = 1; i < d.size(); ++i)
            if (c.isRow(d[i]))
                return Refusal(
                    Refused(c.name + " reduces over the rows of " + c.spaceName(d[i]), Refused::Kind::Statistics));
    return c.all(d);
}

Ruled<Outcomes> cellRule(RuleContext& c)
{
    const ValueId x = c.tensor("input");
    const ValueId h = c.tensor("hx");
    const SpaceId a = c.dim(x, 0), b = h.valid() ? c.dim(h, 0) : a;
    if (a.valid() && b.valid() && a != b) return Refusal(c.differ(a, b));
    return c.all({a.valid() ? a : b, SpaceId{}});
}

namespace {

// States have the batch in their second dimension.
std::optional<Refused> otherStates(RuleContext& c, SpaceId batch)
{
    for (const ir::Arg& state : c.items("hx")) {
        if (!state.value()) continue;
        const SpaceId own = c.dim(*state.value(), 1);
        if (c.isRow(own) && c.isRow(batch) && own != batch) return c.differ(own, batch);
        if (c.isRow(own) != c.isRow(batch))
            return bakedSize("a constant number of states meets " + c.spaceName(c.isRow(batch) ? batch : own));
    }
    return std::nullopt;
}

}  // namespace

// lstm, gru, rnn: rows may be the batch dimension, never the sequence.
Ruled<Outcomes> recurrentRule(RuleContext& c)
{
    const ValueId x = c.tensor("input");
    const int batch = c.boolean("batch_first") ? 0 : 1;
    c.passOn({"has_biases", "num_layers", "dropout", "train", "bidirectional"});
    if (!x.valid()) return Refusal("a recurrent layer over packed sequences");
    if (c.rank(x) != 3) return Refusal("a recurrent layer without a batch dimension");
    if (c.isRow(c.dim(x, 1 - batch)))
        return Refusal(Refused("the recurrence runs over the rows of " + c.spaceName(c.dim(x, 1 - batch)),
                               Refused::Kind::AllRows));
    if (const auto other = otherStates(c, c.dim(x, batch))) return Refusal(*other);
    Outcomes result;
    for (std::size_t j = 0; j < c.outputs.size(); ++j) {
        Outcome o;
        o.dims.resize(c.outputs[j].shape.size());
        if (o.dims.size() == 3) o.dims[j == 0 ? static_cast<std::size_t>(batch) : 1] = c.dim(x, batch);
        result.push_back(std::move(o));
    }
    return result;
}

Ruled<Outcomes> oneHotRule(RuleContext& c)
{
    const ValueId x = c.tensor("self");
    if (c.integer("num_classes", -1) < 0 && !c.structure(x))
        return Refusal(Refused("one_hot with a width that depends on features", Refused::Kind::Width));
    std::vector<SpaceId> dims = c.dims(x);
    dims.emplace_back();
    return c.one(dims);
}

// nonzero(mask) numbers the rows of a filter.
Ruled<Outcomes> nonzeroRule(RuleContext& c)
{
    const ValueId x = c.tensor("self");
    if (!c.structure(x)) return Refusal(Refused("the selection of rows depends on features", Refused::Kind::Selection));
    if (c.rank(x) != 1 || !c.isRow(c.dim(x, 0)))
        return Refusal(Refused("nonzero of a matrix", Refused::Kind::Adjacency));
    const SpaceId parent = c.dim(x, 0);
    const SpaceId space = c.builder.filter(parent, x);
    const Tables& tables = c.builder.analysis.tables;
    Outcome o;
    o.dims.resize(c.outputs[0].shape.size());
    o.dims[0] = space;
    o.role = Role{.space = space,
                  .key = c.space(parent).kind == SpaceKind::Node ? tables.idKey() : tables.posKey(),
                  .target = parent};
    o.elements = {parent};
    return Outcomes(c.outputs.size(), o);
}

// A number as a 0-dim tensor.
Ruled<Outcomes> numberTensorRule(RuleContext& c)
{
    Outcome o;
    o.size = c.linear(c.op.args[0]);
    return Outcomes{o};
}

// Operators known to be safe in the prologue but without a row rule.
Ruled<Outcomes> opaqueRule(RuleContext& c)
{
    for (ValueId v : c.operands())
        if (c.anyRow(c.dims(v)))
            return Refusal(Refused("has no rule yet for rows of " + c.spaceName(c.builder.analysis.rowSpace(v)),
                                   Refused::Kind::Unruled));
    c.passOnAll();
    Outcomes result;
    for (const ir::Value& v : c.outputs) {
        Outcome o;
        o.dims.resize(v.shape.size());
        result.push_back(std::move(o));
    }
    return result;
}

namespace {

// An item of a list argument such as stride=[1, 1] or [1].
std::int64_t itemAt(RuleContext& c, const char* list, std::size_t i)
{
    const std::vector<std::int64_t> items = c.integers(list);
    return items.empty() ? -1 : items[std::min(i, items.size() - 1)];
}

// A kernel of one row: each row by itself, as in convolutions over time in [B, F, N, T].
bool oneRowAtATime(RuleContext& c, std::size_t d)
{
    const ValueId weight = c.tensor("weight");
    if (d < 2 || !weight.valid() || c.rank(weight) <= static_cast<int>(d) || c.boolean("transposed")) return false;
    return c.extent(weight, static_cast<int>(d)) == 1 && itemAt(c, "stride", d - 2) == 1 &&
           itemAt(c, "padding", d - 2) == 0;
}

}  // namespace

// Convolutions and pooling over images: rows may be the batch dimension, or one that the kernel does not reach across.
Ruled<Outcomes> convolutionRule(RuleContext& c)
{
    const ValueId x = c.tensor("input").valid() ? c.tensor("input") : c.tensor("self");
    c.passOn({"stride", "padding", "dilation", "transposed", "output_padding", "groups", "kernel_size", "output_size",
              "ceil_mode", "count_include_pad", "divisor_override", "benchmark", "deterministic", "cudnn_enabled",
              "allow_tf32"});
    const std::vector<SpaceId>& d = c.dims(x);
    for (std::size_t i = 1; i < d.size(); ++i) {
        if (!c.isRow(d[i])) continue;
        if (d.size() == c.outputs[0].shape.size() && oneRowAtATime(c, i)) {
            std::vector<SpaceId> kept(d.size());
            kept[i] = d[i];
            return c.all(kept);
        }
        return Refusal("mixes adjacent rows of " + c.spaceName(d[i]));
    }
    const ValueId weight = c.tensor("weight");
    const bool oneImage =
        c.outputs[0].shape.size() != d.size() || (weight.valid() && c.shape(weight).size() != d.size());
    if (!d.empty() && c.isRow(d[0]) && oneImage) return Refusal("the rows are the channels");
    std::vector<SpaceId> dims(c.outputs[0].shape.size());
    if (!d.empty() && !dims.empty()) dims[0] = d[0];
    return c.all(dims);
}

Ruled<Outcomes> crossRule(RuleContext& c)
{
    const auto dims = c.broadcastOperands();
    if (!dims) return Refusal(dims.error());
    c.passOn({"eps"});
    if (c.name == "cross" && !c.has("dim") && c.anyRow(*dims))
        return Refusal(Refused("takes the first dimension of size 3, which may be the dimension of the rows",
                               Refused::Kind::Dimension));
    const int d = wrapDim(c.integer("dim", c.name == "cosine_similarity" ? 1 : -1), static_cast<int>(dims->size()));
    if (c.isRow((*dims)[static_cast<std::size_t>(d)]))
        return Refusal(Refused("works over the rows of " + c.spaceName((*dims)[static_cast<std::size_t>(d)]),
                               Refused::Kind::Statistics));
    std::vector<SpaceId> result = *dims;
    if (c.name == "cosine_similarity") result.erase(result.begin() + d);
    return c.one(result);
}

namespace {

struct Reduced {
    std::vector<int> dims;
    bool keep = false;
    std::vector<SpaceId> result;
    SpaceId rows;  // a row space among the reduced ones
};

Reduced reducedDims(RuleContext& c, ValueId x)
{
    Reduced r;
    r.keep = c.boolean("keepdim");
    for (std::int64_t d : c.integers("dim")) r.dims.push_back(wrapDim(d, c.rank(x)));
    if (r.dims.empty())
        for (int d = 0; d < c.rank(x); ++d) r.dims.push_back(d);
    for (int d = 0; d < c.rank(x); ++d) {
        const bool gone = std::find(r.dims.begin(), r.dims.end(), d) != r.dims.end();
        if (gone && c.isRow(c.dim(x, d))) r.rows = c.dim(x, d);
        if (!gone) r.result.push_back(c.dim(x, d));
        else if (r.keep) r.result.emplace_back();
    }
    return r;
}

// max() of an index tensor is |target| - 1: how exporters find the number of nodes. Checked on the real data, unless only the
// rows up to it are counted.
std::optional<Outcomes> largestIndex(RuleContext& c, ValueId x)
{
    const SpaceId target = indexedTable(c, x);
    if (c.name != "max" || c.has("dim") || !target.valid()) return std::nullopt;
    const auto counted = c.builder.counted.find(x);
    const bool all = counted == c.builder.counted.end();
    if (all) c.builder.analysis.maxIndexGuards.push_back({.index = x, .space = target, .op = c.op.id});
    Outcome o;
    o.size = add(sizeOf(all ? target : counted->second), constant(-1));
    return Outcomes{o};
}

std::optional<Reduction> reductionOf(const std::string& name)
{
    static const std::map<std::string, Reduction> known{
        {"sum", Reduction::Sum},          {"mean", Reduction::Mean},
        {"amax", Reduction::Max},         {"max", Reduction::Max},
        {"amin", Reduction::Min},         {"min", Reduction::Min},
        {"var", Reduction::Var},          {"std", Reduction::Std},
        {"norm", Reduction::Norm2},       {"linalg_vector_norm", Reduction::Norm2},
        {"linalg_norm", Reduction::Norm2}};
    const auto it = known.find(name);
    return it == known.end() ? std::nullopt : std::optional(it->second);
}

double correctionOf(RuleContext& c)
{
    if (c.index("correction") >= 0) {
        if (const double* d = std::get_if<double>(&c.arg("correction").data)) return *d;
        return static_cast<double>(c.integer("correction", 1));
    }
    return c.boolean("unbiased", true) ? 1 : 0;
}

bool euclidean(RuleContext& c)
{
    const ir::Arg& p = c.has("ord") ? c.arg("ord") : c.arg("p");
    if (p.none()) return true;
    const double* d = std::get_if<double>(&p.data);
    return (d && *d == 2) || (p.integer() && *p.integer() == 2);
}

// linalg.norm(h, 2): its largest singular value.
bool ofMatrix(RuleContext& c, const Reduced& r) { return c.name == "linalg_norm" && c.has("ord") && r.dims.size() > 1; }

}  // namespace

Ruled<Outcomes> reduceRule(RuleContext& c)
{
    const ValueId x = c.tensor("self");
    if ((c.name == "max" || c.name == "min") && c.tensor("other").valid()) return pointwiseRule(c);
    if (auto largest = largestIndex(c, x)) return *largest;
    Reduced r = reducedDims(c, x);
    if (!r.rows.valid() || c.structure(x)) {
        c.passOn({"dtype", "p", "ord", "k", "unbiased", "correction", "interpolation"});
        if (const ValueId q = c.tensor("q"); !q.valid()) c.passOn({"q"});
        else if (c.rank(q) == 1) r.result.insert(r.result.begin(), SpaceId{});  // a quantile each
        return c.all(r.result);
    }
    if (c.outputs[0].dtype != base::DType::Bool) c.passOn({"dtype"});  // whether there is any is no sum of numbers
    const auto how = reductionOf(c.name);
    if (!how || c.outputs.size() > 1)
        return Refusal(Refused("needs all rows of " + c.spaceName(r.rows) + " at once", Refused::Kind::AllRows));
    if (*how == Reduction::Norm2 && (!euclidean(c) || ofMatrix(c, r)))
        return Refusal(
            Refused("a norm other than 2 over the rows of " + c.spaceName(r.rows), Refused::Kind::Statistics));
    c.info.kind = OpKind::Reduce;
    c.info.reduction = *how;
    c.info.reducedDims = r.dims;
    c.info.keepDim = r.keep;
    if (*how == Reduction::Var || *how == Reduction::Std) c.info.correction = correctionOf(c);
    c.use(c.slot("self"), Use::Reduced);
    return c.all(r.result);
}

}  // namespace hopscope::analysis
