#pragma once

// The literal arguments of operators, as inspect lists them: `dim`, `alpha`, `negative_slope`, `dtype`, by the names of the
// operator's schema.

#include "ir/program.h"
#include "json/json.h"

namespace hopscope::schema {

// [{name, value}] in the order of the schema, without tensors, numbers that the model computes, and what has no name there
// (as in scalar::size); a computed number within a list is the value's id. Dtypes, layouts and memory formats by name, NaN and
// infinities as texts.
json::Value argumentsValue(const ir::Program& program, const ir::Op& op);

}  // namespace hopscope::schema
