#include "graph/strided.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace hopscope::graph {

namespace {

// `count` elements of one row (innermost dimension), `stride` elements apart.
template <std::size_t Size>
void copyRow(const std::byte* from, std::int64_t stride, std::int64_t count, std::byte* out)
{
    const std::int64_t step = stride * static_cast<std::int64_t>(Size);
    for (std::int64_t i = 0; i < count; ++i)
        std::memcpy(out + i * static_cast<std::int64_t>(Size), from + i * step, Size);
}

void copyRow(std::size_t size, const std::byte* from, std::int64_t stride, std::int64_t count, std::byte* out)
{
    if (stride == 1) std::memcpy(out, from, static_cast<std::size_t>(count) * size);
    else if (size == 1) copyRow<1>(from, stride, count, out);
    else if (size == 2) copyRow<2>(from, stride, count, out);
    else if (size == 4) copyRow<4>(from, stride, count, out);
    else if (size == 8) copyRow<8>(from, stride, count, out);
    else copyRow<16>(from, stride, count, out);
}

// Offset in elements of the element with row-major number `index`.
std::int64_t offsetOf(const base::TensorView& view, std::int64_t index)
{
    std::int64_t offset = 0;
    for (std::size_t d = view.shape.size(); d-- > 0;) {
        offset += index % view.shape[d] * view.strides[d];
        index /= view.shape[d];
    }
    return offset;
}

}  // namespace

void copyElements(const base::TensorView& view, std::int64_t first, std::int64_t count, std::byte* out)
{
    const std::size_t size = base::itemSize(view.dtype);
    const std::int64_t width = view.shape.empty() ? 1 : view.shape.back();
    const std::int64_t stride = view.shape.empty() ? 1 : view.strides.back();
    while (count > 0) {
        const std::int64_t run = std::min(count, width - first % width);
        const std::byte* const from = view.data + offsetOf(view, first) * static_cast<std::int64_t>(size);
        copyRow(size, from, stride, run, out);
        out += run * static_cast<std::int64_t>(size);
        first += run;
        count -= run;
    }
}

void forEachPiece(const base::TensorView& view, const std::function<void(const std::byte*, std::int64_t)>& visit)
{
    const std::int64_t total = view.elements();
    if (total == 0) return;
    if (view.contiguous()) return visit(view.data, total);
    const auto size = static_cast<std::int64_t>(base::itemSize(view.dtype));
    const std::int64_t most = (std::int64_t{1} << 19) / size;
    std::vector<std::byte> piece(static_cast<std::size_t>(std::min(most, total) * size));
    for (std::int64_t first = 0; first < total; first += most) {
        const std::int64_t count = std::min(most, total - first);
        copyElements(view, first, count, piece.data());
        visit(piece.data(), count);
    }
}

}  // namespace hopscope::graph
