#pragma once

// Mixed-integer linear programs behind one narrow interface. A program has columns with bounds, costs and integrality,
// and rows that are sparse sums between two bounds; its objective is minimised. The solver's types do not appear in this
// interface; nothing is printed or thrown.

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <stop_token>
#include <vector>

#include "base/result.h"

namespace hopscope::solver {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

// Rows are stored one after the other: row i has the terms rowStart[i] to rowStart[i + 1] - 1.
struct Problem {
    std::vector<double> cost, lower, upper;  // by column
    std::vector<std::uint8_t> integer;       // by column
    std::vector<double> rowLower, rowUpper;
    std::vector<std::int32_t> rowStart{0}, termColumn;
    std::vector<double> termValue;
    double constant = 0;  // added to every objective value

    int addColumn(double columnCost, double low, double high, bool isInteger);
    // term() adds a term to the current row, which closeRow() completes.
    void term(int column, double value);
    void closeRow(double low, double high);
    [[nodiscard]] int columns() const { return static_cast<int>(cost.size()); }
    [[nodiscard]] int rows() const { return static_cast<int>(rowLower.size()); }
};

struct Limits {
    double seconds = infinity;
    std::stop_token stop;
    // The remaining iterations of the simplex method, if they are limited. Unlike a time, this limit does not depend on
    // the machine. Programs with the same counter share it.
    std::shared_ptr<std::int64_t> iterations = nullptr;
    double relativeGap = 1e-7;  // a solution this close to the bound is optimal
    double cutoff = infinity;   // solutions must cost less than this to be of interest
    // Called by solveInteger(), on the thread that calls it, when the relaxation is solved.
    std::function<void(double bound)> onBound;
};

enum class Outcome : std::uint8_t {
    Optimal,     // values and objective are set; bound == objective up to the gap
    Feasible,    // stopped early with a solution
    Infeasible,  // proven; with a cutoff: no solution is cheaper than the cutoff
    Unknown,     // ended without a solution or a proof
    Unbounded,
};

struct Solution {
    Outcome outcome = Outcome::Unknown;
    std::vector<double> values;  // by column; empty without a solution
    double objective = infinity;
    double bound = -infinity;          // proven lower bound of the objective
    std::vector<double> reducedCosts;  // by column, of solveRelaxation() only
};

// True if this build contains a solver.
bool available();
const char* solverName();  // with its version, or "none"

// Solves the relaxation, which ignores integrality. The outcome is Optimal, Infeasible, Unbounded or Unknown. Fails
// with Unsupported if no solver is available, with Internal if it throws.
base::Result<Solution> solveRelaxation(const Problem& problem, const Limits& limits = {});

// Solves the integer program. `start` (by column, may be empty) is a feasible solution to improve on. It is ignored if it
// is infeasible or does not cost less than the cutoff. Fails as solveRelaxation() does.
base::Result<Solution> solveInteger(const Problem& problem, const std::vector<double>& start = {},
                                    const Limits& limits = {});

}  // namespace hopscope::solver
