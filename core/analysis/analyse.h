#pragma once

#include "analysis/analysis.h"
#include "analysis/roles/roles.h"

namespace hopscope::analysis {

// `reassociate`: products with weights are computed before the sums and means that they follow, if that makes rows
// narrower (`reassociations` of the result). Sums round differently.
struct Options {
    bool reassociate = false;
};

// Raw program -> functional program with row spaces, uses, depth and lints. Linear in the number of operators, apart
// from views replayed after in-place writes. A model that cannot be split gives an Analysis whose `refusal` is set and
// whose last lint is blocking; only a broken program (a dangling id) fails.
Analysis analyse(const ir::Program& raw, const InputSchema& schema, const Options& options = {});

// Describes a program that cannot be analysed, to be shown: its tables and inputs as declared, its operators without
// depth. It is refused with `why`; the first operator that `why.where` describes counts as the cause. Linear.
Analysis unanalysed(const ir::Program& program, const InputSchema& schema, const base::Error& why);

}  // namespace hopscope::analysis
