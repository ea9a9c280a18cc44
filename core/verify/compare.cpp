#include "verify/compare.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace hopscope::verify {

namespace {

using base::DType;
using base::TensorView;

constexpr std::int64_t pieceElements = 4096;

double fromHalf(std::uint16_t bits)
{
    const int exponent = (bits >> 10) & 31;
    const double fraction = bits & 1023;
    double value = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    if (exponent == 31) value = fraction == 0 ? INFINITY : NAN;
    return bits & 0x8000 ? -value : value;
}

double fromBFloat(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

template <class Stored, class Number, class Convert>
void loadAs(const std::byte* data, std::int64_t stride, std::int64_t count, Number* out, Convert convert)
{
    for (std::int64_t i = 0; i < count; ++i) {
        Stored stored;
        std::memcpy(&stored, data + i * stride * static_cast<std::int64_t>(sizeof(Stored)), sizeof(Stored));
        out[i] = static_cast<Number>(convert(stored));
    }
}

void load(const std::byte* data, DType dtype, std::int64_t stride, std::int64_t count, double* out)
{
    const auto same = [](auto x) { return x; };
    switch (dtype) {
    case DType::Float16: return loadAs<std::uint16_t>(data, stride, count, out, fromHalf);
    case DType::BFloat16: return loadAs<std::uint16_t>(data, stride, count, out, fromBFloat);
    case DType::Float32: return loadAs<float>(data, stride, count, out, same);
    default: return loadAs<double>(data, stride, count, out, same);
    }
}

void load(const std::byte* data, DType dtype, std::int64_t stride, std::int64_t count, std::int64_t* out)
{
    const auto same = [](auto x) { return x; };
    switch (dtype) {
    case DType::Bool:
    case DType::UInt8: return loadAs<std::uint8_t>(data, stride, count, out, same);
    case DType::Int8: return loadAs<std::int8_t>(data, stride, count, out, same);
    case DType::Int16: return loadAs<std::int16_t>(data, stride, count, out, same);
    case DType::UInt16: return loadAs<std::uint16_t>(data, stride, count, out, same);
    case DType::Int32: return loadAs<std::int32_t>(data, stride, count, out, same);
    case DType::UInt32: return loadAs<std::uint32_t>(data, stride, count, out, same);
    default: return loadAs<std::int64_t>(data, stride, count, out, same);
    }
}

bool isComplex(DType dtype) { return dtype == DType::Complex64 || dtype == DType::Complex128; }
bool isContinuous(DType dtype) { return base::isFloating(dtype) || isComplex(dtype); }

// A complex tensor as a real one with a last dimension of 2.
TensorView asReal(TensorView view)
{
    if (!isComplex(view.dtype)) return view;
    view.dtype = view.dtype == DType::Complex64 ? DType::Float32 : DType::Float64;
    for (std::int64_t& stride : view.strides) stride *= 2;
    view.shape.push_back(2);
    view.strides.push_back(1);
    return view;
}

// The rest of a tensor when dimension `dim` is fixed.
TensorView withoutDim(TensorView view, int dim)
{
    view.shape.erase(view.shape.begin() + dim);
    view.strides.erase(view.strides.begin() + dim);
    return view;
}

const std::byte* offset(const TensorView& view, std::int64_t elements)
{
    return view.data + elements * static_cast<std::int64_t>(base::itemSize(view.dtype));
}

// Calls fn(pointerA, strideA, pointerB, strideB, count) for runs of at most pieceElements elements of two tensors of equal
// shape, in order.
template <class Fn>
void forEachRun(const TensorView& a, const TensorView& b, std::size_t dim, const std::byte* pa, const std::byte* pb,
                Fn& fn)
{
    if (dim == a.shape.size()) return fn(pa, 1, pb, 1, 1);
    const auto itemA = static_cast<std::int64_t>(base::itemSize(a.dtype)) * a.strides[dim];
    const auto itemB = static_cast<std::int64_t>(base::itemSize(b.dtype)) * b.strides[dim];
    const std::int64_t size = a.shape[dim];
    if (dim + 1 < a.shape.size()) {
        for (std::int64_t i = 0; i < size; ++i) forEachRun(a, b, dim + 1, pa + i * itemA, pb + i * itemB, fn);
        return;
    }
    for (std::int64_t i = 0; i < size; i += pieceElements)
        fn(pa + i * itemA, a.strides[dim], pb + i * itemB, b.strides[dim], std::min(pieceElements, size - i));
}

void flatten(TensorView& view)
{
    view.shape = {view.elements()};
    view.strides = {1};
}

struct Pieces {
    double stagedReal[pieceElements], referenceReal[pieceElements];
    std::int64_t stagedInt[pieceElements], referenceInt[pieceElements];
};

struct Judge {
    Tolerance tolerance;
    double largest = 0;
    TensorError& error;
    std::optional<FirstDifference>* first = nullptr;  // filled by the first difference
    std::int64_t element = 0;                         // the number of the next one

    void real(double a, double b)
    {
        if (std::isfinite(a) && std::isfinite(b)) return finite(a, b);
        const bool equal = (std::isnan(a) && std::isnan(b)) || a == b;
        if (equal) return void(++error.notFinite);
        differ(a, b);
        error.maxAbsolute = INFINITY;
    }
    void differ(double a, double b)
    {
        ++error.different;
        if (first && !*first) *first = FirstDifference{.element = element, .staged = a, .reference = b};
    }
    void finite(double a, double b)
    {
        const double difference = std::abs(a - b), size = std::abs(b);
        error.maxAbsolute = std::max(error.maxAbsolute, difference);
        if (size > tolerance.absolute) error.maxRelative = std::max(error.maxRelative, difference / size);
        const bool close =
            difference <= tolerance.absolute + tolerance.relative * size || difference <= tolerance.scale * largest;
        if (!close) differ(a, b);
    }
    void integer(std::int64_t a, std::int64_t b)
    {
        if (a == b) return;
        differ(static_cast<double>(a), static_cast<double>(b));
        error.maxAbsolute = std::max(error.maxAbsolute, std::abs(static_cast<double>(a) - static_cast<double>(b)));
    }
};

void judgeTensor(const TensorView& a, const TensorView& b, Judge& judge, Pieces& pieces)
{
    const auto run = [&](const std::byte* pa, std::int64_t sa, const std::byte* pb, std::int64_t sb,
                         std::int64_t count) {
        if (isContinuous(b.dtype)) {
            load(pa, a.dtype, sa, count, pieces.stagedReal);
            load(pb, b.dtype, sb, count, pieces.referenceReal);
            for (std::int64_t i = 0; i < count; ++i, ++judge.element)
                judge.real(pieces.stagedReal[i], pieces.referenceReal[i]);
            return;
        }
        load(pa, a.dtype, sa, count, pieces.stagedInt);
        load(pb, b.dtype, sb, count, pieces.referenceInt);
        for (std::int64_t i = 0; i < count; ++i, ++judge.element)
            judge.integer(pieces.stagedInt[i], pieces.referenceInt[i]);
    };
    forEachRun(a, b, 0, a.data, b.data, run);
}

double largestIn(const TensorView& view, Pieces& pieces)
{
    double largest = 0;
    if (!isContinuous(view.dtype)) return largest;
    const auto run = [&](const std::byte* p, std::int64_t stride, const std::byte*, std::int64_t, std::int64_t count) {
        load(p, view.dtype, stride, count, pieces.referenceReal);
        for (std::int64_t i = 0; i < count; ++i)
            if (const double size = std::abs(pieces.referenceReal[i]); std::isfinite(size))
                largest = std::max(largest, size);
    };
    forEachRun(view, view, 0, view.data, view.data, run);
    return largest;
}

}  // namespace

std::string formText(const TensorView& view)
{
    std::string text = base::dtypeName(view.dtype);
    text += " [";
    for (std::size_t i = 0; i < view.shape.size(); ++i) text += (i ? ", " : "") + std::to_string(view.shape[i]);
    return text + "]";
}

std::optional<std::string> mismatch(const TensorView& staged, const TensorView& reference, int sampledDim)
{
    bool equal = staged.dtype == reference.dtype && staged.shape.size() == reference.shape.size();
    for (std::size_t d = 0; equal && d < staged.shape.size(); ++d)
        equal = static_cast<int>(d) == sampledDim || staged.shape[d] == reference.shape[d];
    if (equal) return std::nullopt;
    return "the staged run yields " + formText(staged) + ", but the model yields " + formText(reference);
}

bool isFinite(const TensorView& view)
{
    if (!isContinuous(view.dtype)) return true;
    bool finite = true;
    double numbers[64];
    const TensorView real = asReal(view);
    const auto run = [&](const std::byte* p, std::int64_t stride, const std::byte*, std::int64_t, std::int64_t count) {
        const auto item = static_cast<std::int64_t>(base::itemSize(real.dtype));
        for (std::int64_t i = 0; i < count && finite; i += 64) {
            const std::int64_t some = std::min<std::int64_t>(64, count - i);
            load(p + i * stride * item, real.dtype, stride, some, numbers);
            finite = std::all_of(numbers, numbers + some, [](double x) { return std::isfinite(x); });
        }
    };
    forEachRun(real, real, 0, real.data, real.data, run);
    return finite;
}

double largestIn(const TensorView& view) { return largestIn(asReal(view), *std::make_unique<Pieces>()); }

void addDifference(TensorError& error)
{
    ++error.different;
    error.maxAbsolute = INFINITY;
    error.maxRelative = INFINITY;
}

Tolerance toleranceOf(const analysis::Analysis& analysis)
{
    Tolerance tolerance;
    const bool prefix = std::ranges::any_of(analysis.lints, [](const auto& l) { return l.code == "prefix-sums"; });
    if (prefix) tolerance.scale = 1e-3;
    return tolerance;
}

Tolerance toleranceFor(const Tolerance& stated, DType dtype)
{
    const double factor = dtype == DType::Float16 ? 8192 : dtype == DType::BFloat16 ? 65536 : 1;
    return {.absolute = stated.absolute * factor,
            .relative = std::min(stated.relative * factor, 0.05),
            .scale = std::min(stated.scale * factor, 0.05)};
}

void compareAll(const TensorView& staged, const TensorView& reference, const Tolerance& tolerance, TensorError& error,
                std::optional<FirstDifference>* first)
{
    const auto pieces = std::make_unique<Pieces>();
    TensorView a = asReal(staged), b = asReal(reference);
    error.rows += staged.shape.empty() ? 1 : staged.shape[0];
    if (a.contiguous() && b.contiguous()) {
        flatten(a);
        flatten(b);
    }
    Judge judge{.tolerance = toleranceFor(tolerance, reference.dtype),
                .largest = largestIn(b, *pieces),
                .error = error,
                .first = first};
    judgeTensor(a, b, judge, *pieces);
    if (first && *first && isComplex(reference.dtype)) (*first)->element /= 2;
}

void compareRows(const TensorView& staged, const TensorView& reference, const RowPairs& pairs,
                 const Tolerance& tolerance, TensorError& error)
{
    const auto pieces = std::make_unique<Pieces>();
    const TensorView a = asReal(staged), b = asReal(reference);
    const auto dim = static_cast<std::size_t>(pairs.dim);
    TensorView rowA = withoutDim(a, pairs.dim), rowB = withoutDim(b, pairs.dim);
    Judge judge{.tolerance = toleranceFor(tolerance, reference.dtype), .largest = 0, .error = error};
    for (const std::int64_t row : pairs.reference) {
        rowB.data = offset(b, row * b.strides[dim]);
        judge.largest = std::max(judge.largest, largestIn(rowB, *pieces));
    }
    for (std::size_t i = 0; i < pairs.staged.size(); ++i) {
        rowA.data = offset(a, pairs.staged[i] * a.strides[dim]);
        rowB.data = offset(b, pairs.reference[i] * b.strides[dim]);
        judgeTensor(rowA, rowB, judge, *pieces);
    }
    error.rows += static_cast<std::int64_t>(pairs.staged.size());
}

}  // namespace hopscope::verify
