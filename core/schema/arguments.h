#pragma once

// Lists the literal arguments of operators for `inspect`, such as `dim`, `alpha`, `negative_slope` and `dtype`. Their
// names are those of the operator's schema.

#include "ir/program.h"
#include "schema/inspect_document.h"

namespace hopscope::schema {

// Returns the arguments in the order of the schema. Tensors, numbers that the model computes, and arguments without a
// name in the schema (as in scalar::size) are omitted; a computed number within a list is represented by its value's
// id. Dtypes, layouts and memory formats are given by name, NaN and infinities as strings.
std::vector<InspectedArgument> argumentsOf(const ir::Program& program, const ir::Op& op);

}  // namespace hopscope::schema
