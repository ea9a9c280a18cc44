#pragma once

// Names the first operator whose result exceeds the range of its type, for splits with infinities or NaN that the model
// does not have, or the other way round. The order of a sum decides whether it overflows; neither result is right.

#include <stop_token>
#include <string>

#include "analysis/analysis.h"
#include "base/tensor.h"
#include "loader/loader.h"
#include "schema/report.h"

namespace hopscope::verify {

// Whether an element is infinite or NaN in one of the results and different in the other, or an output cannot be
// compared.
bool overflows(const schema::Verification& verdict);

// Names the first operator in the program whose floating-point result contains infinities or NaN on these inputs:
// "aten::mm in conv1 (gcn.py:12: ..) is the first whose result leaves the range of float32". Returns an empty string if
// there is none, or if the program cannot be evaluated. Evaluates the whole program unsplit and keeps all
// floating-point results except sparse ones; meant for samples.
std::string firstOverflow(const loader::Walk& walk, const analysis::Analysis& analysis, const base::TensorMap& inputs,
                          const std::string& folder, std::stop_token stop);

}  // namespace hopscope::verify
