#pragma once

// Private to executor: what the driver lists, chosen for the LibTorch that this program runs with. Makes no context.

#include "executor/executor.h"

namespace hopscope::executor {

GpuListing listCudaGpus();

}  // namespace hopscope::executor
