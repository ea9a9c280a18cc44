#pragma once

// Finds operators in LibTorch's registry by name, including those that only TorchScript knows. For the LibTorch modules
// only.

#include <ATen/core/function_schema.h>
#include <ATen/core/stack.h>

#include <memory>
#include <string>

namespace hopscope::loader {

class RegisteredOperator {
public:
    // Empty (false) if there is no operator with this name ("aten::add") and overload ("Tensor").
    static RegisteredOperator find(const std::string& name, const std::string& overload);

    explicit operator bool() const { return m_impl != nullptr; }
    [[nodiscard]] const c10::FunctionSchema& schema() const;
    // Pops the arguments from the stack and pushes the results. Exceptions of LibTorch pass through.
    void run(torch::jit::Stack& stack) const;

private:
    struct Impl;
    std::shared_ptr<Impl> m_impl;
};

}  // namespace hopscope::loader
