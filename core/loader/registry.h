#pragma once

// Operators of LibTorch's registry by name, those of TorchScript alone among them. For the LibTorch modules only.

#include <ATen/core/function_schema.h>
#include <ATen/core/stack.h>

#include <memory>
#include <string>

namespace hopscope::loader {

class RegisteredOperator {
public:
    // Empty if the registry has none of that name ("aten::add") and overload ("Tensor").
    static RegisteredOperator find(const std::string& name, const std::string& overload);

    explicit operator bool() const { return m_impl != nullptr; }
    [[nodiscard]] const c10::FunctionSchema& schema() const;
    // Takes the arguments of the schema from the stack and leaves the results there. Throws what LibTorch throws.
    void run(torch::jit::Stack& stack) const;

private:
    struct Impl;
    std::shared_ptr<Impl> m_impl;
};

}  // namespace hopscope::loader
