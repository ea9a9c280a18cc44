#pragma once

// Private to executor: writes and reads contributions to reductions as files of the journal, exact to the bit and with
// a digest.

#include <optional>
#include <string>
#include <vector>

#include "executor/session/session.h"

namespace hopscope::executor {

// Writes a file without flushing it to the disk, since readers detect a damaged or missing file.
void writeContributions(const std::string& file, const std::vector<Contributions>& parts);

// Reads a file; returns nullopt if it is missing or damaged. `ops` are the operators of the loop's reductions.
std::optional<std::vector<Contributions>> readContributions(const std::string& file, const std::vector<ir::OpId>& ops);

}  // namespace hopscope::executor
