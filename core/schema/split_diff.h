#pragma once

#include <string>
#include <vector>

#include "schema/split.h"

namespace hopscope::schema {

// Returns the differences between two splits as sentences: source files, tool, strategy, inputs and outputs, stages,
// stored values and verdict, in this order. Values have their readable names, or their ids if a document lacks names.
// Empty if the splits are equivalent.
std::vector<std::string> differences(const Split& a, const Split& b);

}  // namespace hopscope::schema
