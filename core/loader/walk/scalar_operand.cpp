#include "loader/walk/scalar_operand.h"

namespace hopscope::loader {

namespace {

bool isReal(const Item& item)
{
    return item.concrete.toTensor().is_floating_point() || item.concrete.toTensor().is_complex();
}

}  // namespace

std::shared_ptr<torch::jit::Operator> withNumber(const c10::FunctionSchema& schema, const std::vector<Item>& args,
                                                 bool constant)
{
    const bool known = (schema.name() == "aten::mul" || schema.name() == "aten::div") &&
                       schema.overload_name() == "Tensor" && args.size() == 2;
    if (!known || !constant || !args[0].isTensor() || !args[1].isTensor() || isReal(args[0])) return nullptr;
    const at::Tensor& number = args[1].concrete.toTensor();
    if (number.dim() != 0 || !number.is_floating_point()) return nullptr;
    return torch::jit::findOperatorFor({schema.name(), "Scalar"});
}

}  // namespace hopscope::loader
