#pragma once

// Where an operator came from: the Python line if the archive remembers it, else the line of the archive's own code.

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

#include "ir/program.h"

namespace hopscope::loader {

ir::Source sourceOf(const torch::jit::Node& node);

// Looks up the origin of every operator of every method: LibTorch reads its source tables only then, and may throw.
void readAllSources(const torch::jit::Module& module);

// Tracing leaves a Python call stack where scripting leaves the source text.
bool looksTraced(const torch::jit::Graph& graph);

}  // namespace hopscope::loader
