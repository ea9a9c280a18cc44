#pragma once

// Private to debugger: matches the operators of two programs.

#include <string>
#include <utility>
#include <vector>

#include "analysis/analysis.h"
#include "schema/findings.h"

namespace hopscope::debugger {

using OperatorPair = std::pair<ir::OpId, ir::OpId>;

// Matches operators of the same kind in the same module, in order: a longest common subsequence of both programs. The
// others have no counterpart. Quadratic in the parts of the programs that differ.
std::vector<OperatorPair> matchOperators(const ir::Program& first, const ir::Program& second);

// Returns the literal arguments that differ, such as "exponent: -0.5, -1".
std::vector<std::string> differentArguments(const ir::Op& first, const ir::Op& second);

// Describes an operator for documents.
schema::OperatorRecord recordOf(const analysis::Analysis& analysis, const ir::Op& op, ir::ValueId value);

}  // namespace hopscope::debugger
