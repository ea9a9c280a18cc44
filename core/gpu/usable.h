#pragma once

// Determines on which of the driver's GPUs this build of Hopscope can compute, and why GPUs cannot be used or are
// slower than they could be, in sentences for the user.

#include <string>
#include <vector>

#include "gpu/driver.h"

namespace hopscope::gpu {

// The targets of this program and its LibTorch.
struct Build {
    int torchCuda = 0;  // the CUDA version of LibTorch, such as 13000; 0: it has no CUDA; 1: a CUDA of unknown version
    int oldestKernel = 0;  // 75: kernels run on compute capability 7.5 and newer; 0: none were compiled
};

// Returns the properties of this build.
Build thisBuild(int torchCuda);

struct Usable {
    int index = 0;  // N of "cuda:N"
    Gpu gpu;
};

struct Choice {
    std::vector<Usable> usable;  // ascending
    // The reasons why GPUs cannot be used, or are slower than they could be. Empty without NVIDIA hardware.
    std::vector<std::string> missing;
};

Choice choose(const Driver& driver, const Build& build);

}  // namespace hopscope::gpu
