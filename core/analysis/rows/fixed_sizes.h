#pragma once

// Private to analysis: numbers of rows that are in the file. A table that a weight has the rows of is as large on every graph, so
// that these numbers are its size: tracing writes x.size(0) of a weight that way. So are numbers of graphs, which tracing reads from
// the largest number of a batch vector: a traced model is for so many.

#include "analysis/roles/roles.h"
#include "analysis/rows/decompose.h"

namespace hopscope::analysis {

// Notes the size of the table that a weight has the rows of (`Builder::fixed`).
void noteFixedSize(Builder& builder, const ir::Value& value, const ValueInfo& info);

// The same of graphs whose rows are gathered, by their number in the data.
void noteGraphSizes(Builder& builder, const InputSchema& schema);

// The operator with the first number among the sizes of its result that is such a size replaced by the size of the table.
ir::Op withTableSizes(Emitter& emitter, ir::Op op);

}  // namespace hopscope::analysis
