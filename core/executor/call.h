#pragma once

// Private to executor: runs one operator of a program through LibTorch's registry.

#include <functional>
#include <unordered_map>
#include <vector>

#include "executor/number.h"
#include "loader/registry.h"

namespace hopscope::executor {

// What an operator is called with. Integers in shape arguments take `localSizes`, every other number `globalSizes`.
struct CallContext {
    std::function<at::Tensor(ir::Slot, ir::ValueId)> operand;
    SizeOf localSizes, globalSizes;
    at::Device device = at::kCPU;
};

class Caller {
public:
    Caller(const analysis::Analysis& analysis, const NumberEvaluator& numbers)
        : m_analysis(analysis),
          m_numbers(numbers)
    {}

    // One tensor per output of the operator. Throws what LibTorch throws, with the operator's place.
    std::vector<at::Tensor> call(const ir::Op& op, const CallContext& context);

    // Operators whose result follows from shapes alone, so that neither baked sizes nor batches of one row can mislead
    // them: fills (stride 0), reshapes and expansions. nullopt: call the operator.
    std::optional<at::Tensor> shaped(const ir::Op& op, const CallContext& context) const;

    // beta * table + alpha * product, with the factors of an addmm.
    at::Tensor addScaled(const ir::Op& op, const at::Tensor& table, const at::Tensor& product) const;

private:
    const loader::RegisteredOperator& registered(const ir::Op& op);
    torch::jit::Stack arguments(const ir::Op& op, const c10::FunctionSchema& schema, const CallContext& context) const;
    at::Tensor fill(const ir::Op& op, const at::Scalar& value, const CallContext& context) const;
    std::optional<at::Scalar> fillValue(const ir::Op& op, const CallContext& context) const;

    const analysis::Analysis& m_analysis;
    const NumberEvaluator& m_numbers;
    std::unordered_map<std::int32_t, loader::RegisteredOperator> m_registered;  // by operator
};

}  // namespace hopscope::executor
