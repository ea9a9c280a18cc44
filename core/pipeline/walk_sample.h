#pragma once

// Internal to the preparation of models (prepare.h): runs forward on the sample and analyses the record.

#include "pipeline/prepare.h"

namespace hopscope::pipeline {

// Reports slow steps as notes and as progress.
loader::SlowFn slownessTo(Reporter& reporter);

// Whether forward may run on the whole data.
bool smallEnoughToWalk(const analysis::InputSchema& schema);

// Walks the sample or, if forward fails on it, the data themselves if they are small. Unsupported if it fails on both.
base::Status walkSample(Prepared& prepared, Reporter& reporter);

// Analyses what walkSample() has recorded.
void analyseSample(Prepared& prepared);

}  // namespace hopscope::pipeline
