#pragma once

// Internal to the preparation of models (prepare.h): walks the model on the sample and analyses the result.

#include "pipeline/opening/prepare.h"

namespace hopscope::pipeline {

// Returns a callback that reports slow steps as notes and as progress.
loader::SlowFn slownessTo(Reporter& reporter);

// Whether the data are small enough to run forward on all of them.
bool smallEnoughToWalk(const analysis::InputSchema& schema);

// Walks the model on the sample or, if forward fails there, on the whole data if they are small, or else on a sample
// whose sparse matrices are as large as those of the data. Fails with Unsupported if forward fails on both.
base::Status walkSample(Prepared& prepared, Reporter& reporter);

// Analyses the program that walkSample() has recorded.
void analyseSample(Prepared& prepared);

}  // namespace hopscope::pipeline
