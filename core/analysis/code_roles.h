#pragma once

// Infers roles of inputs from the model's code. A tensor that is gathered by an end of edges has the rows to which this
// end points, and one that is combined with gathered rows has a row for each edge. Offsets have the form that the
// operators take. Names and sizes, from which roles are inferred first, mislead if sizes happen to be equal.

#include "analysis/roles/roles.h"
#include "ir/program.h"

namespace hopscope::analysis {

// Returns roles for the inputs that a raw program uses differently from the schema, and for the edges between them, as
// overrides for inferSchema(). The result is empty if nothing contradicts the schema. Omits roles that the user gave.
Overrides rolesByCode(const ir::Program& program, const InputSchema& schema);

}  // namespace hopscope::analysis
