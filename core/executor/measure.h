#pragma once

// Benchmarks this machine: measures the rates of the operations that a run consists of.

#include <stop_token>
#include <string>

#include "base/progress.h"
#include "base/result.h"
#include "plan/machine.h"

namespace hopscope::executor {

// Measures all rates of the cost model; takes several seconds. Each rate is the best of several repetitions. Tables are
// larger than most caches: 64 MiB on a CPU; on a GPU at most 256 MiB and an eighth of the free memory. On a CPU, the
// rates of gathers, aggregation, element-wise operators, matrix products and writes are instead those of walls.h, which
// are measured on smaller tables. Rows are copied to and from a GPU in chunks through pinned memory, as in a run, but
// the steps do not overlap, so that their times add up like the phases of a report. On a GPU, several operators are
// launched before each synchronisation. The fixed cost of a batch is not measured but set to the overhead of twenty
// operator calls. `device` is the result of resolveDevice(); `folder` is for scratch files. Fails with
// Resources, with Cancelled, and with Internal if a GPU fails.
base::Result<plan::Machine> measureMachine(const std::string& device, const std::string& folder,
                                           const base::ProgressFn& progress, std::stop_token stop);

// Copy rates between host memory and a GPU in bytes/s, each measured separately. They are upper bounds for a run, whose
// steps overlap.
struct CopyRates {
    double up = 0, down = 0;  // between pinned memory and the GPU, in one direction at a time
    double both = 0;          // per direction, while copying in both directions
    double gather = 0;        // gathering rows of a table into pinned memory, on all threads
    bool pinned = true;       // false: no pinned memory was available, and the rates are those of pageable memory
};

// Measures the copy rates of a GPU; `device` is the result of resolveDevice(). Fails like measureMachine().
base::Result<CopyRates> measureCopies(const std::string& device, const base::ProgressFn& progress,
                                      std::stop_token stop);

// Returns whether this process has used a GPU, so that CUDA and LibTorch are ready for it.
bool gpuStarted();

// Makes a GPU ready, up to the first matrix product on it, and returns the seconds that this took. Returns 0 on a CPU, and
// if the process has used a GPU before. Fails like measureMachine().
base::Result<double> startGpu(const std::string& device);

}  // namespace hopscope::executor
