#include "models/compare.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace hopscope::models {

namespace {

using base::DType;

template <class T>
double read(const std::byte* at)
{
    T value;
    std::memcpy(&value, at, sizeof value);
    return static_cast<double>(value);
}

double readHalf(const std::byte* at)
{
    std::uint16_t bits = 0;
    std::memcpy(&bits, at, sizeof bits);
    const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
    const double sign = bits & 0x8000 ? -1 : 1;
    if (exponent == 31) return fraction ? std::nan("") : sign * INFINITY;
    return sign * (exponent ? std::ldexp(1024 + fraction, exponent - 25) : std::ldexp(fraction, -24));
}

double readBFloat(const std::byte* at)
{
    std::uint16_t bits = 0;
    std::memcpy(&bits, at, sizeof bits);
    return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16));
}

double readAs(DType dtype, const std::byte* at)
{
    switch (dtype) {
    case DType::Bool:
    case DType::UInt8: return read<std::uint8_t>(at);
    case DType::Int8: return read<std::int8_t>(at);
    case DType::Int16: return read<std::int16_t>(at);
    case DType::UInt16: return read<std::uint16_t>(at);
    case DType::Int32: return read<std::int32_t>(at);
    case DType::UInt32: return read<std::uint32_t>(at);
    case DType::Int64: return read<std::int64_t>(at);
    case DType::UInt64: return read<std::uint64_t>(at);
    case DType::Float16: return readHalf(at);
    case DType::BFloat16: return readBFloat(at);
    case DType::Float32: return read<float>(at);
    case DType::Float64: return read<double>(at);
    case DType::Complex64:
    case DType::Complex128: break;
    }
    return std::nan("");
}

std::string shapeText(const base::TensorView& tensor)
{
    std::string text = std::string(base::dtypeName(tensor.dtype)) + "[";
    for (std::size_t i = 0; i < tensor.shape.size(); ++i) text += (i ? ", " : "") + std::to_string(tensor.shape[i]);
    return text + "]";
}

std::string positionText(const base::TensorView& tensor, std::int64_t index)
{
    std::string text;
    for (std::size_t d = tensor.shape.size(); d-- > 0;) {
        text = std::to_string(index % tensor.shape[d]) + (text.empty() ? "" : ", ") + text;
        index /= tensor.shape[d];
    }
    return "[" + text + "]";
}

bool equal(double a, double b, const Tolerance& t)
{
    if (std::isnan(b) || std::isinf(b)) return std::isnan(b) ? std::isnan(a) : a == b;
    return std::abs(a - b) <= t.absolute + t.relative * std::abs(b);
}

void compareElement(Difference& result, const base::TensorView& actual, const base::TensorView& expected,
                    std::int64_t index, const Tolerance& tolerance)
{
    const double a = element(actual, index), b = element(expected, index);
    if (std::isfinite(a) && std::isfinite(b)) {
        result.absolute = std::max(result.absolute, std::abs(a - b));
        result.relative = std::max(result.relative, std::abs(a - b) / std::max(1e-3, std::abs(b)));
    }
    if (!result.complaint && !equal(a, b, tolerance))
        result.complaint = positionText(expected, index) + " is " + std::to_string(a) + ", not " + std::to_string(b);
}

}  // namespace

double element(const base::TensorView& tensor, std::int64_t index)
{
    std::int64_t offset = 0;
    for (std::size_t d = tensor.shape.size(); d-- > 0;) {
        offset += index % tensor.shape[d] * tensor.strides[d];
        index /= tensor.shape[d];
    }
    return readAs(tensor.dtype, tensor.data + offset * static_cast<std::int64_t>(base::itemSize(tensor.dtype)));
}

Difference compare(const base::TensorView& actual, const base::TensorView& expected, const Tolerance& tolerance)
{
    Difference result;
    if (actual.shape != expected.shape || actual.dtype != expected.dtype) {
        result.complaint = "is " + shapeText(actual) + ", not " + shapeText(expected);
        return result;
    }
    for (std::int64_t i = 0; i < expected.elements(); ++i) compareElement(result, actual, expected, i, tolerance);
    return result;
}

}  // namespace hopscope::models
