#pragma once

// Writes and reads the records of a journal as lines of text. Each line begins with its digest, so that an incomplete
// line is detected.

#include <string>
#include <string_view>
#include <vector>

#include "executor/journal.h"

namespace hopscope::pipeline {

std::string chunkLine(const executor::Chunk& chunk);

// Returns a line stating that all records before the byte `end` of the file, and their rows, are on disk.
std::string settledLine(std::int64_t end);

struct ChunkLines {
    std::vector<executor::Chunk> chunks;  // of all intact lines, in order
    std::vector<std::size_t> ends;        // the end of the line of each chunk
    std::size_t end = 0;                  // the end of the last complete line
    std::int64_t settled = 0;             // the largest `end` of a settledLine()
};
// Reads the lines of a file. Linear.
ChunkLines readChunkLines(std::string_view text);

}  // namespace hopscope::pipeline
