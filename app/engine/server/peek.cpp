// tensor/peek: some rows of a value, and what they are like.

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/strided.h"
#include "protocol/tensor_rows.h"
#include "schema/names.h"
#include "server/runs.h"

namespace hopscope::engine {

namespace {

constexpr std::int64_t mostBytes = 4 << 20;

void describe(json::Value& result, const std::vector<std::byte>& bytes, base::DType dtype)
{
    const protocol::ReadNumber read = protocol::numberReader(dtype);
    std::int64_t finite = 0;
    double least = std::numeric_limits<double>::infinity(), most = -least, sum = 0;
    for (std::size_t at = 0; read != nullptr && at < bytes.size(); at += base::itemSize(dtype)) {
        const double value = read(bytes.data() + at);
        if (!std::isfinite(value)) continue;
        ++finite;
        least = std::min(least, value);
        most = std::max(most, value);
        sum += value;
    }
    result["finite"] = read == nullptr ? json::Value() : json::Value(finite);
    result["min"] = finite > 0 ? json::Value(least) : json::Value();
    result["max"] = finite > 0 ? json::Value(most) : json::Value();
    result["mean"] = finite > 0 ? json::Value(sum / static_cast<double>(finite)) : json::Value();
}

std::optional<base::TensorView> find(const Document& document, Run* run, ir::ValueId id)
{
    const pipeline::Prepared& prepared = document.prepared;
    const ir::Value& value = prepared.analysis.program.value(id);
    if (value.origin == ir::Origin::Op) return run == nullptr ? std::nullopt : run->tensor(id);
    if (value.origin != ir::Origin::Input) return loader::leafTensor(prepared.walk, value);
    const auto it = prepared.inputs.find(value.name);
    return it == prepared.inputs.end() ? std::nullopt : std::optional(it->second);
}

// Rows [begin, end) along `axis`.
base::TensorView rowsOf(base::TensorView view, std::size_t axis, std::int64_t begin, std::int64_t end)
{
    if (view.shape.empty()) return view;
    view.data += begin * view.strides[axis] * static_cast<std::int64_t>(base::itemSize(view.dtype));
    view.shape[axis] = end - begin;
    return view;
}

struct Rows {
    std::int64_t begin = 0, end = 0;
};

Rows rangeOf(const json::Reader& params, std::int64_t rows)
{
    Rows range{params.get<std::int64_t>("begin"), params.get<std::int64_t>("end")};
    if (params.ok() && range.begin < 0) params.child("begin").refuse("must not be negative");
    if (params.ok() && range.end < range.begin) params.child("end").refuse("must not be before begin");
    range.begin = std::min(range.begin, rows);
    range.end = std::min(range.end, rows);
    return range;
}

}  // namespace

Outcome peek(const Document& document, Run* run, const json::Reader& params)
{
    const analysis::Analysis& analysis = document.prepared.analysis;
    const auto name = params.get<std::string>("value");
    const auto id = schema::Names(analysis).findValue(name);
    if (params.ok() && !id) params.child("value").refuse("is not a value of this model");
    if (!params.ok()) return invalid(params);
    const std::optional<base::TensorView> whole = find(document, run, *id);
    if (!whole)
        return invalid(name + " is not available: only inputs, parameters and values stored by a finished run are");
    const auto axis = static_cast<std::size_t>(std::max(analysis.rowDim(*id), 0));
    const Rows range = rangeOf(params, whole->shape.empty() ? 1 : whole->shape.at(axis));
    if (!params.ok()) return invalid(params);
    const base::TensorView rows = rowsOf(*whole, axis, range.begin, range.end);
    if (rows.bytes() > mostBytes) return invalid("more than 4 MiB of rows: request fewer at a time");
    std::vector<std::byte> bytes(static_cast<std::size_t>(rows.bytes()));
    graph::copyElements(rows, 0, rows.elements(), bytes.data());
    json::Value result;
    result["value"] = name;
    result["dtype"] = base::dtypeName(whole->dtype);
    result["shape"] = json::Value(whole->shape);
    result["axis"] = static_cast<int>(axis);
    result["begin"] = range.begin;
    result["end"] = range.end;
    result["rows"] = protocol::toBase64(bytes);
    describe(result, bytes, whole->dtype);
    return result;
}

}  // namespace hopscope::engine
