#pragma once

// Divides composite operators of LibTorch into their parts: the kernel of such an operator (CompositeImplicitAutograd)
// only calls other operators. For the LibTorch modules only.

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <functional>
#include <optional>
#include <string>

namespace hopscope::loader {

// True if the operator has no line in the table, is composite, and writes to none of its operands.
bool isComposite(const c10::FunctionSchema& schema);
// True if this holds for any overload of the operator.
bool isComposite(const std::string& name);

// A function that is called with a part and a stack of its arguments, which it replaces by the results.
using PartFn = std::function<void(const torch::jit::Operator& part, torch::jit::Stack& stack)>;

// While an instance exists, a call of a composite operator without a line in the table becomes calls of `part` on this
// thread, one for each part; composite parts are divided further. Calls from within `part` run as usual. Exceptions
// pass through.
class PartsApart {
public:
    explicit PartsApart(PartFn part);
    ~PartsApart();
    PartsApart(const PartsApart&) = delete;
    PartsApart& operator=(const PartsApart&) = delete;

private:
    PartFn m_part;
    const PartFn* m_before;
    c10::impl::IncludeDispatchKeyGuard m_include;
};

}  // namespace hopscope::loader
