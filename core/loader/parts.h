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

// True if an operator without a line in the table is composite and writes to none of its operands.
bool isComposite(const c10::FunctionSchema& schema);
// The same for any of its overloads.
bool isComposite(const std::string& name);

// Called with a part and a stack of its arguments, which it replaces by the results.
using PartFn = std::function<void(const torch::jit::Operator& part, torch::jit::Stack& stack)>;

// While it exists, a call of a composite operator without a line on this thread becomes calls of `part`, one for each
// of its parts; a composite part is divided further. Calls from within `part` run as usual. Exceptions pass
// through.
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
