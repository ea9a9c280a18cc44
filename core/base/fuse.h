#pragma once

// Parses sets of fused patterns as users write them.

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "base/choices.h"
#include "base/result.h"

namespace hopscope::base {

// Returns all patterns, in the order of namesOf.
std::vector<Fuse> allFuse();

// A set of patterns as a setting; documents contain it as a text.
struct FuseSetting : std::vector<Fuse> {
    FuseSetting(std::vector<Fuse> patterns) : vector(std::move(patterns)) {}
    FuseSetting(std::initializer_list<Fuse> patterns) : vector(patterns) {}
};

// Parses "all", "none", or names separated by commas. Returns each pattern once, in the order of namesOf. Fails with
// Usage.
Result<std::vector<Fuse>> parseFuse(const std::string& text);

}  // namespace hopscope::base
