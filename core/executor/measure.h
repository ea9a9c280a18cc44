#pragma once

// How fast this machine does what a run consists of.

#include <stop_token>
#include <string>

#include "base/progress.h"
#include "base/result.h"
#include "plan/machine.h"

namespace hopscope::executor {

// Each rate is the best of several repetitions; some seconds in all. Tables are larger than most caches: 64 MB on a CPU; on a
// GPU 256 MB, or an eighth of what is free there if that is less. Rows go to a GPU and come from it through pinned memory
// in chunks, as a run's batches do, one step after the other: so do the phases of a report add up, although a run does them
// at once. Operators on a GPU are launched several times for each wait. What a batch costs besides its operators is not
// measured: it is taken as twenty calls.
// `device` is resolved; `folder` takes a scratch file. Fails with Resources and Cancelled, and with Internal where a GPU
// fails.
base::Result<plan::Machine> measureMachine(const std::string& device, const std::string& folder,
                                           const base::ProgressFn& progress, std::stop_token stop);

// What lies between this machine's memory and a GPU, each step alone: the walls of a run whose steps overlap. Bytes/s.
struct CopyRates {
    double up = 0, down = 0;  // between pinned memory and the GPU, in one direction at a time
    double both = 0;          // ... in each direction while the other is busy, too
    double gather = 0;        // rows of a table by number into pinned memory, on all threads
    bool pinned = true;       // false: the system gave no pinned memory, and all this is of pageable memory
};

// `device` is resolved and a GPU. Less than two seconds; fails as measureMachine.
base::Result<CopyRates> measureCopies(const std::string& device, const base::ProgressFn& progress,
                                      std::stop_token stop);

}  // namespace hopscope::executor
