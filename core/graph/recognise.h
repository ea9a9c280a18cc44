#pragma once

#include <cstdint>
#include <string>

#include "graph/file.h"

namespace hopscope::graph {

enum class FileKind : std::uint8_t { Npy, Safetensors, Text, Zip, Pickle, Hdf5, Gzip, Parquet, Empty, Unknown };

// Returns the kind of a file, which is recognised by its first few hundred bytes, never by its name.
FileKind recognise(const MappedFile& file);

// The reason why a file of some kind cannot be an input, and a hint: parts of two sentences, for an Error.
struct Refusal {
    std::string what, hint;
};
Refusal refusalOf(FileKind kind);

}  // namespace hopscope::graph
