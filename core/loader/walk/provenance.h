#pragma once

// Returns the source line of an operator: in Python if the archive contains debug information, else in the archive's
// own code.

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

#include "ir/program.h"

namespace hopscope::loader {

ir::Source sourceOf(const torch::jit::Node& node);

// Looks up the source line of every operator, so that damaged debug information, which LibTorch only reads on demand,
// throws now.
void readAllSources(const torch::jit::Module& module);

// True if the graph was traced: operators of traced graphs have a Python call stack, those of scripted ones have source
// text.
bool looksTraced(const torch::jit::Graph& graph);
// True if the module was traced, even if its own methods only call those of its submodules.
bool looksTraced(const torch::jit::Module& module);

}  // namespace hopscope::loader
