#pragma once

// Sets of fused patterns as users write them.

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "base/choices.h"
#include "base/result.h"

namespace hopscope::base {

// All patterns, in the order of namesOf.
std::vector<Fuse> allFuse();

// Patterns as a setting, which documents write as a text.
struct FuseSetting : std::vector<Fuse> {
    FuseSetting(std::vector<Fuse> patterns) : vector(std::move(patterns)) {}
    FuseSetting(std::initializer_list<Fuse> patterns) : vector(patterns) {}
};

// "all", "none", or names separated by commas, each pattern once in the order of namesOf. Fails with Usage.
Result<std::vector<Fuse>> parseFuse(const std::string& text);

}  // namespace hopscope::base
