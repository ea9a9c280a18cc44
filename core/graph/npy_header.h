#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/tensor.h"

namespace hopscope::graph {

// The contents of the header of a .npy file.
struct NpyHeader {
    base::DType dtype = base::DType::Float32;
    bool bigEndian = false;
    bool fortranOrder = false;
    std::vector<std::int64_t> shape;
};

// Parses the dictionary, which has exactly the keys descr, fortran_order and shape, each once. `offset` is that of
// `text` in `file`. Fails with Input, naming file, field and offset.
base::Result<NpyHeader> parseNpyHeader(std::string_view text, std::int64_t offset, const std::string& file);

// Returns magic, version 1.0 and dictionary, padded so that the elements start at a multiple of 64 bytes. Returns an
// empty string for a dtype that numpy lacks.
std::string npyPreamble(base::DType dtype, const std::vector<std::int64_t>& shape);

}  // namespace hopscope::graph
