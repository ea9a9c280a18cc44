#pragma once

// Roles of inputs as the model's code uses them: what is gathered by an end of edges has the rows of that end, and what is
// computed with gathered rows has a row for each edge. Names and sizes, by which roles are inferred first, can say otherwise
// where sizes happen to be equal.

#include <map>
#include <string>

#include "analysis/roles/roles.h"
#include "ir/program.h"

namespace hopscope::analysis {

// Roles for the inputs that a raw program uses in another way than the schema says, and for the edges between them, as overrides
// for inferSchema(); empty where nothing contradicts the schema. Roles that the user gave are not among them.
std::map<std::string, InputRole> rolesByCode(const ir::Program& program, const InputSchema& schema);

}  // namespace hopscope::analysis
