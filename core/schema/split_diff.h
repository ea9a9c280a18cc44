#pragma once

#include <string>
#include <vector>

#include "schema/split.h"

namespace hopscope::schema {

// What two splits do differently, as sentences, in the order of the document: the files they were made from, the tables,
// inputs and outputs, stages, what is stored between them, the proof; values by their names for people. Empty where they
// do the same. Linear.
std::vector<std::string> differences(const Split& a, const Split& b);

}  // namespace hopscope::schema
