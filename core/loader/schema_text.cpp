#include "loader/schema_text.h"

#include <sstream>

#include <torch/csrc/jit/runtime/operator.h>

namespace hopscope::loader {

std::string operatorSchema(const ir::Op& op)
{
    if (ir::isScalarOp(op)) return {};
    const auto found = torch::jit::findOperatorFor(c10::OperatorName(op.name, op.overload));
    if (!found) return {};
    std::ostringstream text;
    text << found->schema();
    return text.str();
}

}  // namespace hopscope::loader
