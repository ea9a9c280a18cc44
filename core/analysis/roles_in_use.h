#pragma once

#include "analysis/analysis.h"
#include "analysis/roles/roles.h"

namespace hopscope::analysis {

// Roles beyond those of `schema` that the operators of a refused program tell:
// - A weight whose rows an index of the data picks or adds to, or which meets rows of a table, has the rows of that table if this has as
//   many in the data, or if nothing but indices tells how many it has.
// - An index that points into rows of another table than was guessed points there.
// - An input whose rows are picked by numbers that the model computes, and to which no index points, is no table.
// - Numbers of the rows of a table, by which these are counted or combined into as many rows as no table has, are those of graphs.
// Roles that the user gave are not among them. Empty where the operators tell nothing; another analysis shows whether the program
// can be split with these roles.
Overrides rolesInUse(const Analysis& refused, const InputSchema& schema);

}  // namespace hopscope::analysis
