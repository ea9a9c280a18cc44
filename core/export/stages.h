#pragma once

// Private to export: all methods of a split, and how they are called.

#include "export/context.h"
#include "export/prologue_writer.h"
#include "plan/plan.h"

namespace hopscope::exporter {

struct Stages {
    Method prologue{"prologue"};
    std::vector<Method> loops;      // parallel to code.loops
    std::optional<Method> results;  // of outputs without rows
    schema::Code code;
};

// Raises Unsupported for a split that no runner can run.
Stages writeStages(const analysis::Analysis& analysis, const plan::Plan& plan, const loader::ModelLimits& limits);

}  // namespace hopscope::exporter
