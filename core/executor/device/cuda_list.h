#pragma once

// Private to executor: divides the GPUs that the driver lists into those that this LibTorch supports and others.
// Creates no CUDA context.

#include "executor/executor.h"

namespace hopscope::executor {

GpuListing listCudaGpus();

}  // namespace hopscope::executor
