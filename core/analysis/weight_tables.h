#pragma once

#include <map>
#include <string>

#include "analysis/analysis.h"
#include "analysis/roles/roles.h"

namespace hopscope::analysis {

// Roles that the operators of a refused program tell of weights, and of the indices into them, beyond those of `schema`: a weight
// whose rows an index of the data picks or adds to has the rows of the table that the index points into, if this table has as many
// rows in the data, or if nothing but indices tells how many it has. An index that points into rows of another table than was
// guessed is said to point there. Roles that the user has given stay. Empty if there are none;
// whether the program can be split with them is for another analysis to find.
std::map<std::string, InputRole> weightTables(const Analysis& refused, const InputSchema& schema);

}  // namespace hopscope::analysis
