#pragma once

// The walls of a machine as a document and as readable text.

#include <string>

#include "plan/walls.h"
#include "json/reader.h"

namespace hopscope::pipeline {

// [{wall, all, one, ..}]: the members of a shape are present unless they are 0.
json::Value wallsValue(const plan::Walls& walls);
// Refuses a wall that is not known, and rates that are not positive.
plan::Walls readWalls(const json::Reader& list);

// "random rows of 256 bytes, table of 32 MiB", "products with a matrix of 128 x 48, float32".
std::string wallText(const plan::WallRate& wall);
// "B/s" or "FLOP/s".
const char* wallUnit(const plan::WallRate& wall);

}  // namespace hopscope::pipeline
