#pragma once

// Keeps operators that Hopscope does not know from running when LibTorch runs a module itself.

#include <torch/csrc/jit/api/module.h>

namespace hopscope::loader {

// Puts an exception in place of every operator that may not run, in all functions of the module, in memory: a branch
// that no run takes may hold one. The exception's text is refusalMark, then a sentence with the operator's name, the
// module's path, the source line and a hint. To be called before anything of the module runs.
void blockUnknownOperators(torch::jit::Module& module);

constexpr const char* refusalMark = "Hopscope: ";

}  // namespace hopscope::loader
