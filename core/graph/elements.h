#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/tensor.h"
#include "graph/file.h"

namespace hopscope::graph {

// Bytes of a tensor, or nullopt if the product exceeds 64 bits. Extents are not negative.
std::optional<std::int64_t> checkedBytes(base::DType dtype, const std::vector<std::int64_t>& shape);

// A row-major (or, with `fortran`, column-major) view of file.data + offset; the range has been checked against the
// file. Elements in the wrong byte order, or at addresses that their type cannot be read from, are copied to memory;
// all others remain mapped. Fails with Input if a bool is neither 0 nor 1.
struct ElementLayout {
    base::DType dtype = base::DType::Float32;
    std::vector<std::int64_t> shape;
    bool fortran = false;
    bool bigEndian = false;
};
base::Result<base::TensorView> viewElements(const MappedFile& file, std::int64_t offset, const ElementLayout& layout,
                                            const std::string& origin);

}  // namespace hopscope::graph
