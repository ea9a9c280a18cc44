#pragma once

// The records of a journal as lines of text, each with its digest in front: a line that was not written as a whole is
// recognised.

#include <string>
#include <string_view>
#include <vector>

#include "executor/journal.h"

namespace hopscope::pipeline {

std::string chunkLine(const executor::Chunk& chunk);

struct ChunkLines {
    std::vector<executor::Chunk> chunks;  // of all lines that are whole, in their order
    std::size_t end = 0;                  // of the last line that ends
};
// Linear.
ChunkLines readChunkLines(std::string_view text);

}  // namespace hopscope::pipeline
