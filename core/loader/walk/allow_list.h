#pragma once

// Keeps LibTorch from running operators that may not run, where it executes a module itself.

#include <torch/csrc/jit/api/module.h>

#include "loader/parts.h"

namespace hopscope::loader {

// Replaces every operator that may not run by an exception, in all functions of the module in memory. Such operators
// cause no error in branches that are not executed. The message of the exception consists of refusalMark and a sentence
// with the operator, module path, source line and a hint. Must be called before any code of the module runs. Returns
// whether composite operators remain: the module must then run while a PartsApart with partsThatMayRun() exists.
bool blockUnknownOperators(torch::jit::Module& module);
// Returns a function that runs a part or, if the part may not run, throws an exception with refusalMark and the reason.
PartFn partsThatMayRun();

constexpr const char* refusalMark = "Hopscope: ";

}  // namespace hopscope::loader
