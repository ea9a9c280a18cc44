#pragma once

#include <string>
#include <vector>

#include "schema/split.h"

namespace hopscope::schema {

// Returns the differences between two splits as sentences: model, data, roles, plan, tool, strategy, inputs and
// outputs, stages, stored values and verdict, in this order. Values have their readable names, or their ids if a
// document lacks names. Empty if there are no differences.
std::vector<std::string> differences(const Split& a, const Split& b);

}  // namespace hopscope::schema
