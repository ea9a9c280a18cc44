#pragma once

#include <string>

#include "ir/program.h"

namespace hopscope::loader {

// "aten::relu(Tensor self) -> Tensor", as LibTorch's registry has it; empty for Hopscope's own scalar operators.
std::string operatorSchema(const ir::Op& op);

}  // namespace hopscope::loader
