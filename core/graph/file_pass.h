#pragma once

// One pass over a part of a file that does not fit into memory.

#include <cstdint>
#include <functional>

#include "base/result.h"
#include "graph/direct_file.h"

namespace hopscope::graph {

// Hands over the bytes from `offset` on in their order, all pieces but the last one of a multiple of 4096 bytes, while other
// threads read the next piece. Fails like DirectFile::read, or with Resources, after handing over the previous pieces.
base::Status passOver(const DirectFile& file, std::int64_t offset, std::int64_t count,
                      const std::function<void(const std::byte* bytes, std::int64_t count)>& visit);

}  // namespace hopscope::graph
