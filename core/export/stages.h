#pragma once

// Private to export: writes all methods of a split, and describes how they are called.

#include "export/context.h"
#include "export/prologue_writer.h"
#include "plan/plan.h"

namespace hopscope::exporter {

struct Stages {
    Method prologue{"prologue"};
    std::vector<Method> loops;      // parallel to code.loops
    std::optional<Method> results;  // computes outputs without rows
    schema::Code code;
};

// Writes all methods. Raises Unsupported for a split that no runner can run.
Stages writeStages(const analysis::Analysis& analysis, const plan::Plan& plan, const loader::ModelLimits& limits);

}  // namespace hopscope::exporter
