#pragma once

// Private to analysis: rewrites composite operators that mix all rows (softmax over nodes, instance or batch
// statistics) to row reductions and row-wise operators. The results are exact, at the price of more stages.

#include "analysis/rows/rules.h"

namespace hopscope::analysis {

// Emits operators on behalf of a rewriting.
class Emitter {
public:
    virtual ~Emitter() = default;
    virtual Builder& builder() = 0;
    // Emits an operator; `outputs` carry dtype and sample shape. Returns its output values, which already exist for a
    // known operator.
    virtual base::Result<std::vector<ValueId>> emit(ir::Op op, const std::vector<ir::Value>& outputs) = 0;
};

// Returns the values that replace the operator's outputs; nullopt if it needs no rewriting.
std::optional<base::Result<std::vector<ValueId>>> decompose(Emitter& emitter, const RuleContext& context);

}  // namespace hopscope::analysis
