#include "loader/registry.h"

#include "loader/bounds.h"

namespace hopscope::loader {

struct RegisteredOperator::Impl {
    std::shared_ptr<torch::jit::Operator> found;
    torch::jit::Operation run;
};

RegisteredOperator RegisteredOperator::find(const std::string& name, const std::string& overload)
{
    RegisteredOperator result;
    if (auto found = torch::jit::findOperatorFor(c10::OperatorName(name, overload))) {
        torch::jit::Operation run = boundedOperation(*found);
        result.m_impl = std::make_shared<Impl>(Impl{std::move(found), std::move(run)});
    }
    return result;
}

const c10::FunctionSchema& RegisteredOperator::schema() const { return m_impl->found->schema(); }

void RegisteredOperator::run(torch::jit::Stack& stack) const { m_impl->run(stack); }

}  // namespace hopscope::loader
