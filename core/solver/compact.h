#pragma once

// Private to solver: reduces a problem to a smaller one with the same solutions, in one linear pass. Columns with equal
// bounds are merged into the bounds of rows, rows that always hold are dropped, and rows of one column become its
// bounds.

#include <vector>

#include "solver/mip.h"

namespace hopscope::solver {

struct Compacted {
    Problem problem;
    std::vector<int> kept;      // column of `problem` -> column of the original
    std::vector<double> lower;  // by column of the original: the value of those that were fixed
    bool infeasible = false;
};

Compacted compact(const Problem& original);

// Returns the values of the original's columns, given those of the compacted problem.
std::vector<double> expand(const Compacted& compacted, const std::vector<double>& values);

// True if the values satisfy bounds, integrality and rows, up to rounding.
bool feasible(const Problem& problem, const std::vector<double>& values);
double objective(const Problem& problem, const std::vector<double>& values);

}  // namespace hopscope::solver
