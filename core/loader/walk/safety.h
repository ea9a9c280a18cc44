#pragma once

// Which operators of a file may run.

#include <ATen/core/function_schema.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "loader/walk/walk_item.h"

namespace hopscope::loader {

// Why an operator of this name may not run at all ("aten::save"), or nothing. `onTensors`: it takes or gives tensors;
// else operators on numbers, texts and containers may run, too. Instructions of the language are not asked about.
std::optional<base::Error> unknownOperator(const std::string& name, bool onTensors);

// Why an operator may not run on these arguments (an unknown name, side effects, random numbers, a missing library), or
// nothing.
std::optional<base::Error> forbidden(const c10::FunctionSchema& schema, const std::vector<Item>& args);

}  // namespace hopscope::loader
