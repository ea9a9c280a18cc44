#include "analysis/rows/decompose.h"

#include "analysis/rows/bag_ids.h"
#include "analysis/rows/cat_parts.h"
#include "analysis/rows/chain.h"
#include "analysis/rows/compressed.h"
#include "analysis/rows/first_rows.h"
#include "analysis/rows/largest_index.h"
#include "analysis/rows/neighbours.h"
#include "analysis/rows/row_prefixes.h"
#include "analysis/rows/row_ranges.h"
#include "analysis/rows/sparse_products.h"

namespace hopscope::analysis {

namespace {

using ir::Arg;
using ir::ArgList;

Arg dimList(const std::vector<int>& dims)
{
    ArgList list;
    for (int d : dims) list.push_back(Arg{std::int64_t{d}});
    return Arg{std::move(list)};
}

std::vector<std::int64_t> reducedShape(std::vector<std::int64_t> shape, const std::vector<int>& dims)
{
    for (int d : dims) shape[static_cast<std::size_t>(d)] = 1;
    return shape;
}

base::Result<std::vector<ValueId>> softmax(Emitter& emitter, const RuleContext& c, ValueId x, int d)
{
    Chain chain(emitter, c.op);
    const auto shape = c.shape(x);
    const auto dtype = c.outputs[0].dtype;
    const auto small = reducedShape(shape, {d});
    const Arg one{std::int64_t{1}};
    c.passOn({"dtype"});
    x = castTo(chain, c, x, dtype);
    const ValueId top = chain.call("amax", {Arg{x}, dimList({d}), Arg{true}}, small, dtype);
    const ValueId shifted = chain.call("sub.Tensor", {Arg{x}, Arg{top}, one}, shape, dtype);
    const ValueId powers = chain.call("exp", {Arg{shifted}}, shape, dtype);
    const ValueId total = chain.call("sum.dim_IntList", {Arg{powers}, dimList({d}), Arg{true}}, small, dtype);
    if (c.name == "softmax") return chain.done(chain.call("div.Tensor", {Arg{powers}, Arg{total}}, shape, dtype));
    const ValueId logTotal = chain.call("log", {Arg{total}}, small, dtype);
    return chain.done(chain.call("sub.Tensor", {Arg{shifted}, Arg{logTotal}, one}, shape, dtype));
}

std::vector<std::int64_t> channelShape(const RuleContext& c, ValueId x)
{
    std::vector<std::int64_t> channel(c.shape(x).size(), 1);
    channel[1] = c.shape(x)[1];
    return channel;
}

// A parameter with a number for each channel, in front of the dimensions behind the channels.
ValueId alongChannels(Chain& chain, const RuleContext& c, ValueId x, const char* parameter)
{
    ArgList size;
    for (int i = 0; i < c.rank(x); ++i) size.push_back(Arg{i == 1 ? std::int64_t{-1} : std::int64_t{1}});
    return chain.call("reshape", {Arg{c.tensor(parameter)}, Arg{std::move(size)}}, channelShape(c, x),
                      c.value(x).dtype);
}

// y * weight + bias, which there need not be.
ValueId scaled(Chain& chain, const RuleContext& c, ValueId y)
{
    const ValueId x = c.tensor("input");
    const auto shape = c.shape(x);
    const auto dtype = c.value(x).dtype;
    if (c.tensor("weight").valid())
        y = chain.call("mul.Tensor", {Arg{y}, Arg{alongChannels(chain, c, x, "weight")}}, shape, dtype);
    if (c.tensor("bias").valid())
        y = chain.call("add.Tensor", {Arg{y}, Arg{alongChannels(chain, c, x, "bias")}, Arg{std::int64_t{1}}}, shape,
                       dtype);
    return y;
}

// (x - mean) / sqrt(variance + eps) * weight + bias, statistics over `dims`.
base::Result<std::vector<ValueId>> normalise(Emitter& emitter, const RuleContext& c, ValueId x,
                                             const std::vector<int>& dims)
{
    Chain chain(emitter, c.op);
    c.passOn({"momentum", "cudnn_enabled"});  // of statistics that are kept, and of a library
    const auto shape = c.shape(x);
    const auto dtype = c.value(x).dtype;
    const auto small = reducedShape(shape, dims);
    const Arg one{std::int64_t{1}};
    const ValueId mean = chain.call("mean.dim", {Arg{x}, dimList(dims), Arg{true}}, small, dtype);
    const ValueId centred = chain.call("sub.Tensor", {Arg{x}, Arg{mean}, one}, shape, dtype);
    const ValueId squares = chain.call("mul.Tensor", {Arg{centred}, Arg{centred}}, shape, dtype);
    const ValueId variance = chain.call("mean.dim", {Arg{squares}, dimList(dims), Arg{true}}, small, dtype);
    const ValueId padded = chain.call("add.Scalar", {Arg{variance}, c.arg("eps"), one}, small, dtype);
    const ValueId factor = chain.call("rsqrt", {Arg{padded}}, small, dtype);
    ValueId y = chain.call("mul.Tensor", {Arg{centred}, Arg{factor}}, shape, dtype);
    return chain.done(scaled(chain, c, y));
}

// In evaluation mode, where the channels are rows: parameters with a row for each of them, as models of sensors have.
base::Result<std::vector<ValueId>> normaliseRows(Emitter& emitter, const RuleContext& c, ValueId x)
{
    Chain chain(emitter, c.op);
    c.passOn({"momentum", "cudnn_enabled"});
    const auto shape = c.shape(x);
    const auto channel = channelShape(c, x);
    const auto dtype = c.value(x).dtype;
    const Arg one{std::int64_t{1}};
    const ValueId mean = alongChannels(chain, c, x, "running_mean");
    const ValueId variance = alongChannels(chain, c, x, "running_var");
    const ValueId centred = chain.call("sub.Tensor", {Arg{x}, Arg{mean}, one}, shape, dtype);
    const ValueId padded = chain.call("add.Scalar", {Arg{variance}, c.arg("eps"), one}, channel, dtype);
    const ValueId factor = chain.call("rsqrt", {Arg{padded}}, channel, dtype);
    return chain.done(scaled(chain, c, chain.call("mul.Tensor", {Arg{centred}, Arg{factor}}, shape, dtype)));
}

// Sums of rows that are multiplied by alpha first, or added to a readout: they start from zeros, as a sum over batches does.
std::optional<base::Result<std::vector<ValueId>>> sumsFromZeros(Emitter& emitter, const RuleContext& c)
{
    const Arg& alpha = c.arg("alpha");
    const double* const real = std::get_if<double>(&alpha.data);
    const bool scaled = real ? *real != 1 : c.integer("alpha", 1) != 1;
    const ValueId table = c.tensor("self"), source = c.tensor("source");
    const bool added = table.valid() && !c.builder.analysis.available(table);
    if (c.name != "index_add" || (!scaled && !added) || c.structure(source)) return std::nullopt;
    const Arg d{std::int64_t{wrapDim(c.integer("dim", 0), c.rank(table))}};
    if (c.isRow(c.dim(table, static_cast<int>(*d.integer())))) return std::nullopt;
    const Arg index = c.arg("index"), one{std::int64_t{1}};
    const std::vector<std::int64_t> shape = c.shape(source), whole = c.outputs[0].shape;
    const base::DType dtype = c.outputs[0].dtype;
    Chain chain(emitter, c.op);
    const ValueId rows = scaled ? chain.call("mul.Scalar", {Arg{source}, alpha}, shape, dtype) : source;
    const ValueId start = added ? chain.call("zeros_like", {Arg{table}}, whole, dtype) : table;
    const ValueId sums = chain.call("index_add", {Arg{start}, d, index, Arg{rows}, one}, whole, dtype);
    return chain.done(added ? chain.call("add.Tensor", {Arg{table}, Arg{sums}, one}, whole, dtype) : sums);
}

bool rowsAmong(const RuleContext& c, ValueId x, const std::vector<int>& dims)
{
    for (int d : dims)
        if (c.isRow(c.dim(x, d))) return true;
    return false;
}

}  // namespace

std::optional<base::Result<std::vector<ValueId>>> decompose(Emitter& emitter, const RuleContext& c)
{
    if (c.name == "softmax" || c.name == "log_softmax") {
        const ValueId x = c.tensor("self");
        if (c.structure(x) || c.rank(x) == 0) return std::nullopt;
        const int d = wrapDim(c.integer("dim", -1), c.rank(x));
        if (c.isRow(c.dim(x, d))) return softmax(emitter, c, x, d);
    }
    if (const auto counted = countLargestIndex(emitter, c); !counted) return base::forward(counted);
    if (auto counts = decomposeBincount(emitter, c)) return counts;
    if (auto sums = sumsFromZeros(emitter, c)) return sums;
    if (auto edges = decomposeCompressed(emitter, c)) return edges;
    if (auto ids = decomposeBagIds(emitter, c)) return ids;
    if (auto product = decomposeSparseProducts(emitter, c)) return product;
    if (c.builder.positions)
        if (auto parts = decomposeCatParts(emitter, c)) return parts;
    if (auto found = decomposeNeighbours(emitter, c)) return found;
    if (auto first = decomposeFirstRows(emitter, c)) return first;
    if (auto part = decomposeRowRanges(emitter, c)) return part;
    if (auto prefix = decomposePrefixes(emitter, c)) return prefix;
    if (auto unsorted = decomposeUnsorting(emitter, c)) return unsorted;
    if (c.name == "batch_norm" && !c.boolean("training") && c.rank(c.tensor("input")) > 1 &&
        c.isRow(c.dim(c.tensor("input"), 1)))
        return normaliseRows(emitter, c, c.tensor("input"));
    const bool instance = c.name == "instance_norm" && c.boolean("use_input_stats");
    const bool batch = c.name == "batch_norm" && c.boolean("training");
    if (!instance && !batch) return std::nullopt;
    const ValueId x = c.tensor("input");
    std::vector<int> dims;
    for (int d = instance ? 2 : 0; d < c.rank(x); ++d)
        if (d != 1) dims.push_back(d);
    if (!rowsAmong(c, x, dims)) return std::nullopt;
    return normalise(emitter, c, x, dims);
}

}  // namespace hopscope::analysis
