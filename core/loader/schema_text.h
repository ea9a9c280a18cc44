#pragma once

#include <string>

#include "ir/program.h"

namespace hopscope::loader {

// Returns the operator's schema from LibTorch's registry, "aten::relu(Tensor self) -> Tensor"; empty for Hopscope's own
// scalar operators, and for operators that are not in the registry.
std::string operatorSchema(const ir::Op& op);

}  // namespace hopscope::loader
