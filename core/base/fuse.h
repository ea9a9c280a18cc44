#pragma once

// Sets of fused patterns as users write them.

#include <string>
#include <vector>

#include "base/choices.h"
#include "base/result.h"

namespace hopscope::base {

// All patterns, in the order of namesOf.
std::vector<Fuse> allFuse();

// "all", "none", or names separated by commas, each pattern once in the order of namesOf. Fails with Usage.
Result<std::vector<Fuse>> parseFuse(const std::string& text);

}  // namespace hopscope::base
