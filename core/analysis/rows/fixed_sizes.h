#pragma once

// Private to analysis: numbers of rows that are in the file. A table whose rows a weight has is as large on every
// graph, so these numbers are its size: tracing writes x.size(0) of a weight that way. The same holds for numbers of
// graphs, which tracing reads from the largest number of a batch vector: a traced model only fits this number of
// graphs.

#include "analysis/roles/roles.h"
#include "analysis/rows/decompose.h"

namespace hopscope::analysis {

// Records the size of the table whose rows a weight has (`Builder::fixed`).
void noteFixedSize(Builder& builder, const ir::Value& value, const ValueInfo& info);

// The same for graphs whose rows are gathered, by their number in the data.
void noteGraphSizes(Builder& builder, const InputSchema& schema);

// The operator, with the first such size among the sizes of its result replaced by the size of the table.
ir::Op withTableSizes(Emitter& emitter, ir::Op op);

}  // namespace hopscope::analysis
