#pragma once

// Private to analysis: inputs and parameters get their row spaces from the schema.

#include "analysis/roles/roles.h"
#include "analysis/rows/builder.h"

namespace hopscope::analysis {

// The tables that the schema declares, with the sample's sizes taken from `program`.
void declareTables(Builder& builder, const ir::Program& program, const InputSchema& schema);

// The schema's facts about an input or a declared parameter; empty for other values.
ValueInfo bindInput(Builder& builder, const ir::Value& value, ValueId id, const InputSchema& schema);

// The schema with all graph tables as tables of nodes that are gathered from the rows of their graph.
InputSchema withGatheredGraphs(InputSchema schema);

// The schema with the edges of these relations as a table of nodes, whose rows can be looked up by number.
InputSchema withNumberedEdges(InputSchema schema, const std::set<std::string>& relations);

}  // namespace hopscope::analysis
