#pragma once

// The operators that a composite operator of LibTorch consists of: its kernel (CompositeImplicitAutograd) only calls others. For
// the LibTorch modules only.

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <functional>
#include <optional>
#include <string>

namespace hopscope::loader {

// Whether an operator that has no line in the table consists of others; none does that writes to its operands.
bool isComposite(const c10::FunctionSchema& schema);
// The same for any of its overloads.
bool isComposite(const std::string& name);

// Called with a part and its arguments, in the place of which it leaves the results.
using PartFn = std::function<void(const torch::jit::Operator& part, torch::jit::Stack& stack)>;

// While it lives, the parts of composite operators without a line that this thread calls are handed to `part`, one by one; a part
// that is composite itself, as its own. What `part` calls is not. Exceptions pass through.
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
