#pragma once

#include <string>

#include "models/cases.h"

namespace hopscope::models {

// What a model has the engine do, as words without spaces, separated by spaces and sorted: its operators with their rules and
// the tables that they work on, how operands are used, keys, rewritings, roles of inputs, or the sentence that refuses it.
// From such words tests/models/cover.py chooses the models that the default tier runs.
std::string featuresOf(const Case& c);

}  // namespace hopscope::models
