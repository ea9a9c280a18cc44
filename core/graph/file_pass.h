#pragma once

// Reads a part of a file in one pass, for files that do not fit into memory.

#include <cstdint>
#include <functional>

#include "base/result.h"
#include "graph/direct_file.h"

namespace hopscope::graph {

// Passes `count` bytes at `offset` to `visit`, piece by piece in file order, while other threads read the next piece.
// All pieces but the last are a multiple of 4096 bytes. Fails as DirectFile::read() does, after passing the pieces
// before the failure, and with Resources.
base::Status passOver(const DirectFile& file, std::int64_t offset, std::int64_t count,
                      const std::function<void(const std::byte* bytes, std::int64_t count)>& visit);

}  // namespace hopscope::graph
