#pragma once

// Private to analysis: interprets numbers of rows in the file. If a weight has a row for each row of a table, the table
// has the same size on every graph, so these numbers are its size: tracing writes x.size(0) of a weight that way. The
// same holds for numbers of graphs, which tracing reads from the largest number of a batch vector: a traced model only
// fits this number of graphs.

#include "analysis/roles/roles.h"
#include "analysis/rows/decompose.h"

namespace hopscope::analysis {

// Records in Builder::fixed the size of the table whose rows the weight `value` has.
void noteFixedSize(Builder& builder, const ir::Value& value, const ValueInfo& info);

// Records the numbers of graphs in the data, for graph tables whose rows are gathered.
void noteGraphSizes(Builder& builder, const InputSchema& schema);

// Returns the operator with the first such number among the sizes of its result replaced by the size of the table.
ir::Op withTableSizes(Emitter& emitter, ir::Op op);

}  // namespace hopscope::analysis
