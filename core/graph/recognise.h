#pragma once

#include <cstdint>
#include <string>

#include "graph/file.h"

namespace hopscope::graph {

enum class FileKind : std::uint8_t { Npy, Safetensors, Text, Zip, Pickle, Hdf5, Gzip, Parquet, Empty, Unknown };

// By content; looks at the first few hundred bytes and never at the name.
FileKind recognise(const MappedFile& file);

// Why a file of that kind is no input, and what to do: two sentences' parts, for an Error.
struct Refusal {
    std::string what, hint;
};
Refusal refusalOf(FileKind kind);

}  // namespace hopscope::graph
