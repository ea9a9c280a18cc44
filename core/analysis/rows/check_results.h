#pragma once

// Private to analysis: checks conditions on a whole program, once its rows are known.

#include <map>

#include "analysis/rows/builder.h"
#include "analysis/rows/rules.h"

namespace hopscope::analysis {

// Returns the error of a model that is refused at this operator.
tl::unexpected<base::Error> refusal(const ir::Op& op, const Refused& why);

// Fails with Unsupported, and sets analysis.refusedOp, if an output is a sparse matrix or has unknown rows (`unknown`:
// the reason), if rows of a table are needed together with rows that belong to none, or if a branch depends on
// features. Linear.
base::Status checkResults(Builder& builder, const std::map<SpaceId, Refused::Kind>& unknown);

}  // namespace hopscope::analysis
