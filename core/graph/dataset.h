#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/tensor.h"

namespace hopscope::graph {

// Reads --data arguments: a .safetensors file, a folder of .npy files (key = file name), or NAME=FILE.npy. Later keys
// may not repeat earlier ones. A file is recognised by its content, not its name. Fails with Usage or Input (the
// message names the path of a missing file, and the kind of a text file, a zip, a pickle or an HDF5 file).
base::Result<base::TensorMap> readData(const std::vector<std::string>& arguments);

// xxh3-128, hex, over names, dtypes, shapes and bytes; linear in the bytes.
std::string hashData(const base::TensorMap& data);

struct DataFacts {
    std::string hash;                               // as hashData()
    std::map<std::string, std::int64_t> notFinite;  // NaN and infinite elements per floating tensor that has any
};

// If the data have more bytes than `memory`, by default half of the available memory, floating tensors in files are
// read past the page cache.
DataFacts examine(const base::TensorMap& data, std::optional<std::int64_t> memory = std::nullopt);

// The NaN and infinite numbers of a tensor among all of its numbers, counted on all cores: floating elements, and both parts of
// complex ones. Other types have none. `memory`: as above.
struct NotFinite {
    std::int64_t numbers = 0, of = 0;
    bool operator==(const NotFinite&) const = default;
};
NotFinite countNotFinite(const base::TensorView& view, std::optional<std::int64_t> memory = std::nullopt);

}  // namespace hopscope::graph
