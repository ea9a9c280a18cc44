#pragma once

// Private to executor: measures the walls of a CPU.

#include <stop_token>
#include <string>

#include "base/progress.h"
#include "plan/walls.h"

namespace hopscope::executor {

// Measures operators on rows, random rows and the segment kernel on tables of several sizes, products by shape, fresh
// pages, and the disk under `folder`. All of these are measured with the cores of the calling thread (Cores) and with
// one core. Except for the disk, repetitions of about a millisecond are timed by the clocks of the threads, so that a
// busy machine gives similar rates. Takes three to five seconds. Raises Resources and Cancelled.
plan::Walls measureWalls(const std::string& folder, const base::ProgressFn& progress, const std::stop_token& stop);

}  // namespace hopscope::executor
