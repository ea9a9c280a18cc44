#pragma once

// Copies rows out of tables, and writes row numbers and offsets into copies of indices.

#include <algorithm>
#include <cstring>
#include <vector>

#include "analysis/roles/roles.h"
#include "base/page_advice.h"
#include "base/tensor.h"

namespace hopscope::analysis {

using Members = std::vector<std::int64_t>;  // ascending rows of a table that the sample keeps

// Copies a strided source element by element, along `dim` and the later dimensions. Returns the end of the copy.
inline std::byte* copyStrided(const base::TensorView& view, const std::byte* from, std::size_t dim, std::byte* to)
{
    const std::size_t item = base::itemSize(view.dtype);
    if (dim == view.shape.size()) {
        std::memcpy(to, from, item);
        return to + item;
    }
    for (std::int64_t i = 0; i < view.shape[dim]; ++i)
        to = copyStrided(view, from + i * view.strides[dim] * static_cast<std::int64_t>(item), dim + 1, to);
    return to;
}

// Copies the given rows along `dim`, recursively from dimension `at` on. Returns the end of the copy.
inline std::byte* copyRows(const base::TensorView& view, const Members& rows, std::size_t dim, const std::byte* from,
                           std::size_t at, std::byte* to)
{
    const auto step = view.strides[at] * static_cast<std::int64_t>(base::itemSize(view.dtype));
    if (at == dim) {
        for (const std::int64_t row : rows) to = copyStrided(view, from + row * step, at + 1, to);
        return to;
    }
    for (std::int64_t i = 0; i < view.shape[at]; ++i) to = copyRows(view, rows, dim, from + i * step, at + 1, to);
    return to;
}

inline base::TensorView sliceRows(const base::TensorView& view, const Members& rows, std::size_t at = 0)
{
    if (static_cast<std::int64_t>(rows.size()) == view.shape[at]) return view;
    std::vector<std::int64_t> shape = view.shape;
    shape[at] = static_cast<std::int64_t>(rows.size());
    base::OwnedTensor out = base::allocate(view.dtype, shape);
    out.view.origin = view.origin;
    const base::ScatteredReads few(view);
    copyRows(view, rows, at, view.data, 0, out.bytes);
    return out.view;
}

// Returns a copy of the tensor in column-major order.
inline base::TensorView inColumns(const base::TensorView& view)
{
    base::TensorView turned = view;
    std::ranges::reverse(turned.shape);
    std::ranges::reverse(turned.strides);
    base::OwnedTensor out = base::allocate(view.dtype, turned.shape);
    out.view.origin = view.origin;
    copyStrided(turned, turned.data, 0, out.bytes);
    std::ranges::reverse(out.view.shape);
    std::ranges::reverse(out.view.strides);
    return out.view;
}

inline void storeInteger(std::byte* to, base::DType dtype, std::int64_t value)
{
    // The machine is little-endian: the low bytes hold the number in every width.
    std::memcpy(to, &value, base::itemSize(dtype));
}

// The layout of an end's numbers in a contiguous index: the offset of the first one and the distance between two, in
// bytes.
struct EdgePlaces {
    std::int64_t first = 0, step = 0;
};

inline EdgePlaces edgePlaces(base::DType dtype, std::int64_t edges, EdgeForm form, int end)
{
    const auto item = static_cast<std::int64_t>(base::itemSize(dtype));
    if (isOneEnd(form)) return {0, item};
    return traitsOf(form).edgeDim == 1 ? EdgePlaces{end * edges * item, item} : EdgePlaces{end * item, 2 * item};
}

// Writes the offsets of a compressed index of `rows` destinations. offset(row) returns the position at which the edges
// of a row begin. It is called in ascending order, and last with `rows` if the form has the number of edges.
template <class Offset>
void storeOffsets(std::byte* to, base::DType dtype, EdgeForm form, std::int64_t rows, Offset&& offset)
{
    const FormTraits has = traitsOf(form);
    for (std::int64_t row = has.first ? 0 : 1; row < rows + (has.last ? 1 : 0); ++row, to += base::itemSize(dtype))
        storeInteger(to, dtype, offset(row));
}

inline std::int64_t rankIn(const Members& members, std::int64_t row)
{
    return std::ranges::lower_bound(members, row) - members.begin();
}

}  // namespace hopscope::analysis
