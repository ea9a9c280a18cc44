#pragma once

// Values that leave the range of their type, where a split and its model disagree about infinities: the order of a sum
// decides there, and neither is right.

#include <stop_token>
#include <string>

#include "analysis/analysis.h"
#include "base/tensor.h"
#include "loader/loader.h"
#include "schema/report.h"

namespace hopscope::verify {

// True if some element is infinite or NaN in only one of the results.
bool overflows(const schema::Verification& verdict);

// "aten::mm in conv1 (gcn.py:12: ..) is the first whose result leaves the range of float32": the first operator, in the
// order of the program, that turns finite numbers into infinities or NaN on these inputs; empty if there is none, or if
// the program cannot be evaluated. Evaluates the whole program unsplit and keeps each result: for samples.
std::string firstOverflow(const loader::Walk& walk, const analysis::Analysis& analysis, const base::TensorMap& inputs,
                          const std::string& folder, std::stop_token stop);

}  // namespace hopscope::verify
