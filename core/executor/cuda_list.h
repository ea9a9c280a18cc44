#pragma once

// Private to executor: the GPUs that the driver lists, divided into those that this LibTorch supports and others.
// Creates no CUDA context.

#include "executor/executor.h"

namespace hopscope::executor {

GpuListing listCudaGpus();

}  // namespace hopscope::executor
