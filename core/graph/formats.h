#pragma once

// The formats of data files. The reader (dataset.h), help texts, the window's filters and the table in
// docs/guides/data.md follow from the table below. A new format is a line of the table and a reader here, a reader in
// core/export/runner/formats.py, which run.py and the Python package use, and a sample in tests/graph/formats.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/tensor.h"
#include "graph/file.h"

namespace hopscope::graph {

// A single array, which is named by the user or by its file; or tensors with names.
enum class Holds : std::uint8_t { Array, Tensors };

struct Format {
    const char* suffix;
    std::string_view signature;  // the bytes with which each file begins; empty: formatOf() looks at the header
    Holds holds;
    base::Result<base::TensorMap> (*read)(const std::string& path);  // names an array ""
    const char* writer;                                              // an example in Python, for docs/
};

// Read the files of a format. Fail as mapNpy() and mapSafetensors() do.
base::Result<base::TensorMap> readNpy(const std::string& path);
base::Result<base::TensorMap> readSafetensors(const std::string& path);

inline constexpr auto formats = std::to_array<Format>(
    {{"npy", "\x93NUMPY", Holds::Array, readNpy, R"(numpy.save("data/x.npy", x.numpy()))"},
     {"safetensors", "", Holds::Tensors, readSafetensors,
      R"(safetensors.torch.save_file({"x": x, "edge_index": edge_index}, "graph.safetensors"))"}});

// Returns the format of a file, which is recognised by its first few hundred bytes, never by its name; nullptr: none.
const Format* formatOf(const MappedFile& file);

// Returns the format with the suffix of this name; nullptr: none.
const Format* formatNamed(std::string_view file);

// The reason why a file without a format cannot be an input, and a hint: parts of two sentences, for an Error.
struct Refusal {
    std::string what, hint;
};
Refusal refusalOf(const MappedFile& file);

// Lists the suffixes of the formats that hold this (nullopt: of all), for example ".npy or .safetensors".
std::string listSuffixes(std::optional<Holds> holds = std::nullopt, const std::string& separator = " or ",
                         const std::string& before = ".");

// Returns the forms of data arguments: "a .safetensors file, a folder of .npy files, or NAME=FILE.npy".
std::string dataForms();

// Returns the table of the formats in docs/guides/data.md.
std::string formatsTable();

}  // namespace hopscope::graph
