// tensor/peek: some rows of a value, and what they are like.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "graph/strided.h"
#include "schema/names.h"
#include "server/runs.h"

namespace hopscope::engine {

namespace {

constexpr std::int64_t mostBytes = 4 << 20;

std::string base64(const std::vector<std::byte>& bytes)
{
    static constexpr char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t group = 0;
        const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
        for (std::size_t k = 0; k < count; ++k) group |= std::to_integer<std::uint32_t>(bytes[i + k]) << (16 - 8 * k);
        for (std::size_t k = 0; k < 4; ++k) text += k <= count ? letters[group >> (18 - 6 * k) & 63U] : '=';
    }
    return text;
}

template <class T>
double numberAt(const std::byte* bytes)
{
    T value;
    std::memcpy(&value, bytes, sizeof(value));
    return static_cast<double>(value);
}

double halfAt(const std::byte* bytes)
{
    std::uint16_t bits = 0;
    std::memcpy(&bits, bytes, sizeof(bits));
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value = 0;
    if (exponent == 31) value = fraction == 0 ? std::numeric_limits<double>::infinity() : std::nan("");
    else if (exponent == 0) value = std::ldexp(fraction, -24);
    else value = std::ldexp(fraction + 1024, exponent - 25);
    return (bits >> 15) != 0 ? -value : value;
}

double brainAt(const std::byte* bytes)
{
    std::uint16_t bits = 0;
    std::memcpy(&bits, bytes, sizeof(bits));
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

using Read = double (*)(const std::byte*);

// Null for complex numbers.
Read readerOf(base::DType dtype)
{
    switch (dtype) {
    case base::DType::Bool:
    case base::DType::UInt8: return numberAt<std::uint8_t>;
    case base::DType::Int8: return numberAt<std::int8_t>;
    case base::DType::Int16: return numberAt<std::int16_t>;
    case base::DType::UInt16: return numberAt<std::uint16_t>;
    case base::DType::Int32: return numberAt<std::int32_t>;
    case base::DType::UInt32: return numberAt<std::uint32_t>;
    case base::DType::Int64: return numberAt<std::int64_t>;
    case base::DType::UInt64: return numberAt<std::uint64_t>;
    case base::DType::Float16: return halfAt;
    case base::DType::BFloat16: return brainAt;
    case base::DType::Float32: return numberAt<float>;
    case base::DType::Float64: return numberAt<double>;
    default: return nullptr;
    }
}

void describe(json::Value& result, const std::vector<std::byte>& bytes, base::DType dtype)
{
    const Read read = readerOf(dtype);
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
    result["rows"] = base64(bytes);
    describe(result, bytes, whole->dtype);
    return result;
}

}  // namespace hopscope::engine
