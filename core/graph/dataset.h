#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/tensor.h"

namespace hopscope::graph {

// Reads the arguments of --data (dataForms()): files with tensors, folders of files with an array each (key = file name
// without its suffix, after escapes such as "%2F" are decoded), or NAME=FILE. Keys must be unique. The format of a file
// is recognised by its content, not its name. Fails with Usage, Input or Resources; the message names the path of a
// missing file, and the kind of a text, zip, pickle, HDF5, gzip, Parquet or empty file.
base::Result<base::TensorMap> readData(const std::vector<std::string>& arguments);

// Returns the XXH3-128 hash of the names, dtypes, shapes and bytes, in hexadecimal. Takes time linear in the bytes.
std::string hashData(const base::TensorMap& data);

struct DataFacts {
    std::string hash;                               // as hashData()
    std::map<std::string, std::int64_t> notFinite;  // number of NaN and infinite elements, if there are any
};

// Hashes the data and counts real floating-point elements that are not finite. If the data have more than `memory`
// bytes (by default half of the available memory), floating-point tensors in files are read past the page cache.
DataFacts examine(const base::TensorMap& data, std::optional<std::int64_t> memory = std::nullopt);

// The number of NaN and infinite numbers in a tensor, and that of all its numbers.
struct NotFinite {
    std::int64_t numbers = 0, of = 0;
    bool operator==(const NotFinite&) const = default;
};
// Counts floating-point elements, and both parts of complex ones, on all cores. Returns zeros for other types.
// `memory`: as for examine().
NotFinite countNotFinite(const base::TensorView& view, std::optional<std::int64_t> memory = std::nullopt);

}  // namespace hopscope::graph
