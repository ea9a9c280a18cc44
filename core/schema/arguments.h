#pragma once

// The literal arguments of operators, as inspect lists them: `dim`, `alpha`, `negative_slope`, `dtype`, by the names of the
// operator's schema.

#include "ir/program.h"
#include "schema/inspect_document.h"

namespace hopscope::schema {

// Lists the arguments in the order of the schema, without tensors, numbers that the model computes, and arguments
// without a name there (as in scalar::size); a computed number within a list is the value's id. Dtypes, layouts and
// memory formats are given by name, NaN and infinities as texts.
std::vector<InspectedArgument> argumentsOf(const ir::Program& program, const ir::Op& op);

}  // namespace hopscope::schema
