#pragma once

#include "analysis/analysis.h"
#include "analysis/roles/roles.h"

namespace hopscope::analysis {

// Returns roles that follow from the operators of a refused program and differ from those of `schema`:
// - If an index of the data picks rows of a weight or adds to them, or if the weight is combined with rows of a table,
//   the weight has the rows of that table. The table must have as many rows in the data, or only indices may determine
//   their number.
// - An index that points into rows of a table other than the guessed one points there.
// - Ends of edges that pick rows of weights of different sizes point into different tables, if no input has their rows.
// - An input whose numbers pick rows of a table names rows of it. Such inputs of equal length have a table in common.
// - An input whose rows are picked by numbers that the model computes, and to which no index points, is not a table.
// - An input may have an integer for each row of a table, by which the rows are counted or combined. If no table has
//   the rows of the result, these integers are numbers of graphs.
// Omits roles that the user gave. The result is empty if the operators imply none; only another analysis shows whether
// the program can be split with these roles.
Overrides rolesInUse(const Analysis& refused, const InputSchema& schema);

}  // namespace hopscope::analysis
