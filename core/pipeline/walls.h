#pragma once

// Writes and reads the walls of a machine as a document, and as readable text.

#include <string>

#include "plan/walls.h"
#include "json/reader.h"

namespace hopscope::pipeline {

// Returns [{wall, all, one, ..}]. Members of a shape are omitted if they are 0.
json::Value wallsValue(const plan::Walls& walls);
// Reads walls. Refuses unknown walls, and rates that are not positive.
plan::Walls readWalls(const json::Reader& list);

// Returns text such as "random rows of 256 bytes, table of 32 MiB" or "products with a matrix of 128 x 48, float32".
std::string wallText(const plan::WallRate& wall);
// Returns "B/s" or "FLOP/s".
const char* wallUnit(const plan::WallRate& wall);

}  // namespace hopscope::pipeline
