#include "loader/registry.h"

#include <torch/csrc/jit/runtime/operator.h>

#include "loader/bounds.h"

namespace hopscope::loader {

struct RegisteredOperator::Impl {
    std::shared_ptr<torch::jit::Operator> found;
    torch::jit::Operation run;
    BoundsCheck check;
};

RegisteredOperator RegisteredOperator::find(const std::string& name, const std::string& overload)
{
    RegisteredOperator result;
    if (auto found = torch::jit::findOperatorFor(c10::OperatorName(name, overload))) {
        torch::jit::Operation run = found->getOperation();
        result.m_impl = std::make_shared<Impl>(Impl{std::move(found), std::move(run), boundsCheckOf(name)});
    }
    return result;
}

const c10::FunctionSchema& RegisteredOperator::schema() const { return m_impl->found->schema(); }

void RegisteredOperator::run(torch::jit::Stack& stack) const
{
    if (m_impl->check) m_impl->check(stack);
    m_impl->run(stack);
}

}  // namespace hopscope::loader
