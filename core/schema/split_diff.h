#pragma once

#include <string>
#include <vector>

#include "schema/split.h"

namespace hopscope::schema {

// Returns the differences between two splits as sentences: source files, tables, inputs and outputs, stages, stored
// values, verification, in this order. Values have their readable names. Empty if the splits are equivalent. Linear.
std::vector<std::string> differences(const Split& a, const Split& b);

}  // namespace hopscope::schema
