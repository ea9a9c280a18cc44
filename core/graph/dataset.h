#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/tensor.h"

namespace hopscope::graph {

// Reads the arguments of --data: a .safetensors file, a folder of .npy files (key = file name), or NAME=FILE.npy. Keys
// must be unique. A file is recognised by its content, not its name. Fails with Usage or Input; the message names the
// path of a missing file, and the kind of a text, zip, pickle or HDF5 file.
base::Result<base::TensorMap> readData(const std::vector<std::string>& arguments);

// Returns the XXH3-128 hash of the names, dtypes, shapes and bytes, in hexadecimal. Takes time linear in the bytes.
std::string hashData(const base::TensorMap& data);

struct DataFacts {
    std::string hash;                               // as hashData()
    std::map<std::string, std::int64_t> notFinite;  // NaN and infinite elements of each tensor that has any
};

// Hashes the data and counts elements that are not finite. If the data have more than `memory` bytes (by default half
// of the available memory), floating-point tensors in files are read past the page cache.
DataFacts examine(const base::TensorMap& data, std::optional<std::int64_t> memory = std::nullopt);

// The number of NaN and infinite numbers in a tensor, and that of all its numbers.
struct NotFinite {
    std::int64_t numbers = 0, of = 0;
    bool operator==(const NotFinite&) const = default;
};
// Counts floating-point elements, and both parts of complex ones, on all cores. Other types have no such numbers.
// `memory`: as for examine().
NotFinite countNotFinite(const base::TensorView& view, std::optional<std::int64_t> memory = std::nullopt);

}  // namespace hopscope::graph
