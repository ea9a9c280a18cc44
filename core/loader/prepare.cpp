#include "loader/prepare.h"

#include <torch/csrc/jit/frontend/builtin_functions.h>
#include <torch/csrc/jit/operator_upgraders/upgraders_entry.h>
#include <torch/csrc/jit/runtime/operator.h>
#include <torch/csrc/jit/runtime/symbolic_script.h>

namespace hopscope::loader {

void prepareLibTorch()
{
    const auto operators = torch::jit::getAllOperatorsFor(at::aten::add);
    torch::jit::getAllBuiltinFunctionsFor(at::aten::add);
    torch::jit::populate_upgraders_graph_map();
    torch::jit::hasGradientInfoForSchema(operators.at(0)->schema());
}

}  // namespace hopscope::loader
