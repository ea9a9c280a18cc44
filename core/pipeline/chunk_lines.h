#pragma once

// The records of a journal as lines of text, each with its digest in front: a line that was not written as a whole is
// recognised.

#include <string>
#include <string_view>
#include <vector>

#include "executor/journal.h"

namespace hopscope::pipeline {

std::string chunkLine(const executor::Chunk& chunk);

// A line stating that all records before `end`, and their rows, have reached the disk.
std::string settledLine(std::int64_t end);

struct ChunkLines {
    std::vector<executor::Chunk> chunks;  // of all lines that are whole, in their order
    std::vector<std::size_t> ends;        // of the line of each
    std::size_t end = 0;                  // of the last line that ends
    std::int64_t settled = 0;             // the largest end that has reached the disk according to a line
};
// Linear.
ChunkLines readChunkLines(std::string_view text);

}  // namespace hopscope::pipeline
