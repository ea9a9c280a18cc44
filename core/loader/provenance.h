#pragma once

// Where an operator came from: the Python line if the archive remembers it, else the line of the archive's own code.

#include <torch/csrc/jit/ir/ir.h>

#include "ir/program.h"

namespace hopscope::loader {

ir::Source sourceOf(const torch::jit::Node& node);

// Tracing leaves a Python call stack where scripting leaves the source text.
bool looksTraced(const torch::jit::Graph& graph);

}  // namespace hopscope::loader
