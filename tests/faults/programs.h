#pragma once

// Damage to the JSON of exported programs (.pt2) that leaves it well-formed JSON.

#include <string>

#include "faults/mutations.h"

namespace hopscope::faults {

// Writes the program at `source` to `target` with one to three values of its JSON removed or replaced. Returns the changes in
// words.
std::string mutateProgram(const std::string& source, const std::string& target, Random& random);

}  // namespace hopscope::faults
