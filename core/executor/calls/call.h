#pragma once

// Private to executor: runs one operator of a program through LibTorch's registry.

#include <functional>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "executor/calls/number.h"
#include "loader/registry.h"

namespace hopscope::executor {

// The operands and table sizes for a call. Integers in shape arguments are computed from `localSizes`, all other
// numbers from `globalSizes` (number.h).
struct CallContext {
    std::function<at::Tensor(ir::Slot, ir::ValueId)> operand;
    SizeOf localSizes, globalSizes;
    at::Device device = at::kCPU;
};

// Calls the operators of a program. Thread-safe.
class Caller {
public:
    Caller(const analysis::Analysis& analysis, const NumberEvaluator& numbers)
        : m_analysis(analysis),
          m_numbers(numbers)
    {}

    // Returns one tensor for each output. If LibTorch throws, the failure names the operator's module path and source
    // line.
    std::vector<at::Tensor> call(const ir::Op& op, const CallContext& context);

    // Evaluates operators whose result depends on shapes only (fills, with stride 0, reshapes and expansions) without
    // calling them, so that baked sizes and batches with one row cannot give wrong results. nullopt: the operator must
    // be called.
    std::optional<at::Tensor> shaped(const ir::Op& op, const CallContext& context) const;

    // Returns beta * table + alpha * product, with the factors of the addmm `op`.
    at::Tensor addScaled(const ir::Op& op, const at::Tensor& table, const at::Tensor& product) const;

private:
    const loader::RegisteredOperator& registered(const ir::Op& op);
    torch::jit::Stack arguments(const ir::Op& op, const c10::FunctionSchema& schema, const CallContext& context) const;
    std::vector<at::Tensor> typed(std::vector<at::Tensor> results, const ir::Op& op) const;
    std::vector<at::Tensor> emptyResults(const ir::Op& op, const CallContext& context) const;
    at::Tensor fill(const ir::Op& op, const at::Scalar& value, const CallContext& context) const;
    std::optional<at::Scalar> fillValue(const ir::Op& op, const CallContext& context) const;

    const analysis::Analysis& m_analysis;
    const NumberEvaluator& m_numbers;
    std::mutex m_mutex;                                                         // guards the members below
    std::unordered_map<std::int32_t, loader::RegisteredOperator> m_registered;  // by operator
};

}  // namespace hopscope::executor
