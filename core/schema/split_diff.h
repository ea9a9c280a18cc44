#pragma once

#include <string>
#include <vector>

#include "schema/split.h"

namespace hopscope::schema {

// The differences between two splits as sentences, in the order of the document: the source files, the tables, inputs
// and outputs, stages, the values stored between them, the verification; values have their readable names. Empty if
// the splits are equivalent. Linear.
std::vector<std::string> differences(const Split& a, const Split& b);

}  // namespace hopscope::schema
