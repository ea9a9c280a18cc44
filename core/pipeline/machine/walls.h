#pragma once

// Writes and reads the walls of a machine as JSON, and names a wall and its unit in readable text.

#include <string>

#include "plan/walls.h"
#include "json/reader.h"

namespace hopscope::pipeline {

// Returns [{wall, all, one, bytes, width, outputs, dtype}]. Sizes of 0 are omitted; only products have a dtype.
json::Value wallsValue(const plan::Walls& walls);
// Reads walls. Refuses unknown walls, and rates that are not positive.
plan::Walls readWalls(const json::Reader& list);

// Returns a readable text: "copies to the GPU".
std::string wallText(const plan::WallRate& wall);
// Returns "B/s" or "FLOP/s".
const char* wallUnit(const plan::WallRate& wall);

}  // namespace hopscope::pipeline
