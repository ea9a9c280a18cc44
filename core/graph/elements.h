#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/tensor.h"
#include "graph/file.h"

namespace hopscope::graph {

// Returns the size of a tensor in bytes; nullopt if it exceeds 64 bits. Extents must not be negative.
std::optional<std::int64_t> checkedBytes(base::DType dtype, const std::vector<std::int64_t>& shape);

// The layout of a tensor's elements: row-major or, with `fortran`, column-major.
struct ElementLayout {
    base::DType dtype = base::DType::Float32;
    std::vector<std::int64_t> shape;
    bool fortran = false;
    bool bigEndian = false;
};
// Returns a view of the elements at file.data + offset. The caller has checked that they are within the file. Elements
// in the wrong byte order, or at addresses that are not aligned for their type, are copied to memory; all others remain
// mapped. Fails with Input if a bool is neither 0 nor 1.
base::Result<base::TensorView> viewElements(const MappedFile& file, std::int64_t offset, const ElementLayout& layout,
                                            const std::string& origin);

}  // namespace hopscope::graph
