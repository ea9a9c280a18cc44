#pragma once

#include "analysis/analysis.h"
#include "analysis/roles/roles.h"

namespace hopscope::analysis {

// Options of the analysis. `reassociate` computes products with weights before the sums and means that they follow, if
// that makes rows narrower and nothing else uses the sums, and before the gathers of the rows that they multiply, if the
// tables have fewer rows. Products with tables side by side become sums of products. Results then round differently;
// Analysis::reassociations lists the products.
struct Options {
    bool reassociate = false;
};

// Rewrites a raw program to a functional one and infers its row spaces, uses, depth and lints. If the model cannot be
// split, `refusal` is set and one lint is blocking. The program must not contain dangling ids.
Analysis analyse(const ir::Program& raw, const InputSchema& schema, const Options& options = {});

// Describes a program that cannot be analysed, for display: its tables and inputs as declared, its operators without
// depth. The refusal is `why`; the first operator that `why.where` describes counts as the cause.
Analysis unanalysed(const ir::Program& program, const InputSchema& schema, const base::Error& why);

}  // namespace hopscope::analysis
