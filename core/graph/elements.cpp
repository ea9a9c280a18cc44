#include "graph/elements.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace hopscope::graph {

namespace {

static_assert(std::endian::native == std::endian::little, "files are mapped as little-endian");

// The size of the unit that is byte-swapped: each half of a complex number is one.
std::size_t scalarSize(base::DType dtype)
{
    const bool complex = dtype == base::DType::Complex64 || dtype == base::DType::Complex128;
    return base::itemSize(dtype) / (complex ? 2 : 1);
}

std::vector<std::int64_t> columnMajorStrides(const std::vector<std::int64_t>& shape)
{
    std::vector<std::int64_t> strides(shape.size(), 1);
    for (std::size_t i = 1; i < shape.size(); ++i)
        strides[i] = strides[i - 1] * std::max<std::int64_t>(shape[i - 1], 1);
    return strides;
}

void reverseScalars(std::byte* bytes, std::size_t count, std::size_t size)
{
    for (std::size_t at = 0; at < count; at += size) std::reverse(bytes + at, bytes + at + size);
}

base::Status checkBools(const base::TensorView& view, std::int64_t offset)
{
    const auto* const end = view.data + view.elements();
    const auto* const bad = std::find_if(view.data, end, [](std::byte b) { return b > std::byte{1}; });
    if (bad == end) return {};
    const std::string at = std::to_string(offset + (bad - view.data));
    return base::fail(base::ErrorCode::Input,
                      view.origin + ": at byte " + at + ": a bool is " + std::to_string(std::to_integer<int>(*bad)) +
                          ", neither 0 nor 1",
                      {}, view.origin + ":" + at);
}

// Moves the elements to memory of their own.
void copyElementsOut(base::TensorView& view, bool swap)
{
    base::OwnedTensor copy = base::allocate(view.dtype, view.shape);
    const auto count = static_cast<std::size_t>(view.bytes());
    std::memcpy(copy.bytes, view.data, count);
    if (swap) reverseScalars(copy.bytes, count, scalarSize(view.dtype));
    view.data = copy.view.data;
    view.owner = copy.view.owner;
}

}  // namespace

std::optional<std::int64_t> checkedBytes(base::DType dtype, const std::vector<std::int64_t>& shape)
{
    // Zero extents come last, so that (2^62, 2^62, 0) is refused as well: its strides would overflow.
    auto bytes = static_cast<std::int64_t>(base::itemSize(dtype));
    for (const std::int64_t extent : shape)
        if (extent > 0 && __builtin_mul_overflow(bytes, extent, &bytes)) return std::nullopt;
    return std::find(shape.begin(), shape.end(), 0) == shape.end() ? bytes : 0;
}

base::Result<base::TensorView> viewElements(const MappedFile& file, std::int64_t offset, const ElementLayout& layout,
                                            const std::string& origin)
{
    base::TensorView view;
    view.dtype = layout.dtype;
    view.shape = layout.shape;
    view.strides = layout.fortran ? columnMajorStrides(layout.shape) : base::contiguousStrides(layout.shape);
    view.data = file.data + offset;
    view.owner = file.owner;
    view.origin = origin;
    if (view.elements() == 0) return view;
    const bool misaligned = reinterpret_cast<std::uintptr_t>(view.data) % scalarSize(layout.dtype) != 0;
    if (layout.bigEndian || misaligned) copyElementsOut(view, layout.bigEndian);
    if (layout.dtype == base::DType::Bool)
        if (auto checked = checkBools(view, offset); !checked) return base::forward(checked);
    return view;
}

}  // namespace hopscope::graph
