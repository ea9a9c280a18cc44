#include "verify/variants.h"

#include <ATen/CPUGeneratorImpl.h>
#include <torch/csrc/jit/api/compilation_unit.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>

#include <cmath>

#include "loader/tensors.h"

namespace hopscope::verify {

namespace {

using torch::jit::Node;

void widenConstant(Node& node)
{
    const auto value = c10::attr::value;
    if (node.kind() != c10::prim::Constant || !node.hasAttribute(value)) return;
    if (node.kindOf(value) != torch::jit::AttributeKind::t || !node.t(value).is_floating_point()) return;
    node.t_(value, node.t(value).to(at::kDouble));
}

bool namesFloat(const torch::jit::Value& argument)
{
    const std::optional<c10::IValue> type = torch::jit::toIValue(&argument);
    return type && type->isInt() && at::isFloatingType(static_cast<at::ScalarType>(type->toInt()));
}

void widenTypes(Node& node)
{
    const c10::FunctionSchema* schema = node.maybeSchema();
    if (schema == nullptr) return;
    for (std::size_t i = 0; i < std::min(schema->arguments().size(), node.inputs().size()); ++i) {
        if (schema->arguments()[i].name() != "dtype" || !namesFloat(*node.inputs()[i])) continue;
        const torch::jit::WithInsertPoint here(&node);
        node.replaceInput(i, node.owningGraph()->insertConstant(static_cast<std::int64_t>(at::kDouble)));
    }
}

void widen(torch::jit::Block& block)
{
    for (Node* node : block.nodes()) {
        for (torch::jit::Block* inner : node->blocks()) widen(*inner);
        widenConstant(*node);
        widenTypes(*node);
    }
}

void widen(const at::Tensor& tensor)
{
    if (tensor.is_floating_point()) tensor.set_data(tensor.to(at::kDouble));
}

// A change of about one unit in the last digit of each number.
at::Tensor movedTensor(const at::Tensor& tensor, std::uint64_t seed)
{
    const std::map<at::ScalarType, int> digits{
        {at::kHalf, 10}, {at::kBFloat16, 7}, {at::kFloat, 23}, {at::kDouble, 52}};
    const double unit = std::ldexp(1.0, -digits.at(tensor.scalar_type()));
    const at::Tensor exact = tensor.to(at::kDouble);
    const at::Generator generator = at::detail::createCPUGenerator(seed);
    const at::Tensor change = at::randn(tensor.sizes(), generator, at::dtype(at::kDouble));
    return at::where(exact == exact.round(), exact, exact * (1 + unit * change)).to(tensor.scalar_type());
}

template <class Change>
base::TensorMap changed(const base::TensorMap& inputs, const Change& change)
{
    base::TensorMap result = inputs;
    for (auto& [name, view] : result)
        if (base::isFloating(view.dtype)) view = loader::toView(change(loader::toTensor(view)).contiguous());
    return result;
}

}  // namespace

void computeInDouble(torch::jit::Module& module)
{
    const at::NoGradGuard noGradients;
    for (const c10::IValue& value : module.attributes()) {
        if (value.isTensor()) widen(value.toTensor());
        if (value.isTensorList())
            for (const at::Tensor& tensor : value.toTensorVector()) widen(tensor);
    }
    for (torch::jit::Function* function : module._ivalue()->compilation_unit()->get_functions())
        if (torch::jit::GraphFunction* const code = torch::jit::tryToGraphFunction(*function))
            widen(*code->graph()->block());
}

base::TensorMap inDouble(const base::TensorMap& inputs)
{
    return changed(inputs, [](const at::Tensor& tensor) { return tensor.to(at::kDouble); });
}

base::TensorMap moved(const base::TensorMap& inputs, std::uint64_t seed)
{
    return changed(inputs, [&](const at::Tensor& tensor) { return movedTensor(tensor, seed); });
}

}  // namespace hopscope::verify
