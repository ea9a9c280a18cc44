#pragma once

// Private to analysis: gives inputs and parameters their row spaces from the schema.

#include "analysis/roles/roles.h"
#include "analysis/rows/builder.h"

namespace hopscope::analysis {

// Declares the tables of the schema, with their sizes on the sample, which `program` has.
void declareTables(Builder& builder, const ir::Program& program, const InputSchema& schema);

// Returns the schema's facts about an input or a declared parameter; no facts for other values.
ValueInfo bindInput(Builder& builder, const ir::Value& value, ValueId id, const InputSchema& schema);

// Returns the schema with all graph tables as tables of nodes, whose rows are gathered from those of their graph.
InputSchema withGatheredGraphs(InputSchema schema);

// Returns the schema with the edges of each of these relations as a table of nodes, whose rows can be looked up by
// number.
InputSchema withNumberedEdges(InputSchema schema, const std::set<std::string>& relations);

}  // namespace hopscope::analysis
