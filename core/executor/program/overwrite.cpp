#include "executor/program/overwrite.h"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>

namespace hopscope::executor {

namespace {

// Runs "aten::relu_" for "aten::relu".
void overwriteAlone(const std::string& name, at::Tensor& tensor)
{
    const auto twin = c10::Dispatcher::singleton().findSchemaOrThrow((name + "_").c_str(), "");
    twin.typed<at::Tensor&(at::Tensor&)>().call(tensor);
}

bool overwriteWith(const std::string& name, at::Tensor& tensor, const at::Tensor& other)
{
    if (at::result_type(tensor, other) != tensor.scalar_type()) return false;
    if (!at::is_expandable_to(other.sizes(), tensor.sizes())) return false;
    if (name == "aten::add") tensor.add_(other);
    else if (name == "aten::sub") tensor.sub_(other);
    else if (name == "aten::mul") tensor.mul_(other);
    else if (name == "aten::div") tensor.div_(other);
    else return false;
    return true;
}

bool aloneInItsMemory(const at::Tensor& t)
{
    return t.use_count() == 1 && t.storage().use_count() == 1 && t.is_non_overlapping_and_dense();
}

}  // namespace

bool isPlainPair(const ir::Op& op, const Instruction& i)
{
    if (op.overload != "Tensor" || i.operands.size() != 2) return false;
    const std::int64_t* const factor = op.args.size() > 2 ? op.args[2].integer() : nullptr;
    return op.args.size() == 2 || (factor != nullptr && *factor == 1);
}

bool overwrite(const ir::Op& op, at::Tensor& tensor, const at::Tensor& other)
{
    if (!tensor.is_floating_point() || !aloneInItsMemory(tensor)) return false;
    if (other.defined()) return overwriteWith(op.name, tensor, other);
    overwriteAlone(op.name, tensor);
    return true;
}

}  // namespace hopscope::executor
