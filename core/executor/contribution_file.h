#pragma once

// Private to executor: contributions to reductions as files of the journal, exact to the bit and with a digest.

#include <optional>
#include <string>
#include <vector>

#include "executor/session.h"

namespace hopscope::executor {

// Does not flush to the disk: readers detect a damaged or missing file.
void writeContributions(const std::string& file, const std::vector<Contributions>& parts);

// nullopt if the file is missing or damaged. `ops`: the operators of the loop's reductions.
std::optional<std::vector<Contributions>> readContributions(const std::string& file, const std::vector<ir::OpId>& ops);

}  // namespace hopscope::executor
