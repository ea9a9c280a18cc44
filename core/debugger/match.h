#pragma once

// Private to debugger: which operators of two programs correspond to each other.

#include <string>
#include <utility>
#include <vector>

#include "analysis/analysis.h"
#include "schema/findings.h"

namespace hopscope::debugger {

using OperatorPair = std::pair<ir::OpId, ir::OpId>;

// Operators of the same kind in the same module, in order: a longest common subsequence of both programs. The others
// have no counterpart. Quadratic in the part of the programs that differs.
std::vector<OperatorPair> matchOperators(const ir::Program& first, const ir::Program& second);

// Literal arguments that differ, "exponent: -0.5, -1".
std::vector<std::string> differentArguments(const ir::Op& first, const ir::Op& second);

// Describes an operator for documents.
schema::OperatorRecord recordOf(const analysis::Analysis& analysis, const ir::Op& op, ir::ValueId value);

}  // namespace hopscope::debugger
