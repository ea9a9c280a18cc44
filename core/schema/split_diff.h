#pragma once

#include <string>
#include <vector>

#include "schema/split.h"

namespace hopscope::schema {

// Returns a line for each difference between two splits in the model, data, roles, plan, tool, strategy, inputs and
// outputs, stages, stored values and verdict, in this order. Inputs and outputs have their names; other values have
// their readable names, or their ids if a document lacks such names. Exported code is not compared.
std::vector<std::string> differences(const Split& a, const Split& b);

}  // namespace hopscope::schema
