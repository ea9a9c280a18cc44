#pragma once

// What was measured, as tables for people.

#include "bench/plans.h"
#include "bench/report.h"
#include "cli/console.h"

namespace hopscope::engine {

std::string describeBench(const BenchRunOptions& options, const std::vector<BenchCase>& cases, const Style& style);
std::string describeBenchPlans(const std::vector<MeasuredPlan>& all);

}  // namespace hopscope::engine
