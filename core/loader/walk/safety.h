#pragma once

// Decides which operators may run. A TorchScript file can contain any operator that LibTorch knows, including those
// that write files; only those in the table (operators/operators.h) and harmless ones without tensors are executed.

#include <ATen/core/function_schema.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "loader/walk/walk_item.h"

namespace hopscope::loader {

// Returns the reason why an operator of this name ("aten::save") may never run; nullopt if it may. `onTensors` states
// that it has tensors among its arguments or results; if it does not, operators on numbers, strings and containers are
// allowed as well. Not for instructions of TorchScript itself (operators::isInstruction).
std::optional<base::Error> unknownOperator(const std::string& name, bool onTensors);

// Returns the reason why an operator may not run on these arguments (unknown, with side effects, random, from a missing
// library); nullopt if it may.
std::optional<base::Error> forbidden(const c10::FunctionSchema& schema, const std::vector<Item>& args);

}  // namespace hopscope::loader
