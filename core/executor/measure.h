#pragma once

// How fast this machine does what a run consists of.

#include <stop_token>
#include <string>

#include "base/progress.h"
#include "base/result.h"
#include "plan/machine.h"

namespace hopscope::executor {

// Each rate is the best of several repetitions on tables of some 64 MB, larger than most caches; about two seconds in all. What a batch
// costs besides its operators is not measured: it is taken as twenty calls.
// `device` is resolved; `folder` takes a scratch file. Fails with Resources and Cancelled.
base::Result<plan::Machine> measureMachine(const std::string& device, const std::string& folder,
                                           const base::ProgressFn& progress, std::stop_token stop);

}  // namespace hopscope::executor
