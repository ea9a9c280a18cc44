#pragma once

// The GPUs of the driver on which this build of Hopscope can compute, and the reasons why others cannot be used:
// sentences for the user.

#include <string>
#include <vector>

#include "gpu/driver.h"

namespace hopscope::gpu {

// The targets of this program and its LibTorch.
struct Build {
    int torchCuda = 0;     // the CUDA version of LibTorch, 13000; 0: it has no CUDA; 1: it has, of a version not known
    int oldestKernel = 0;  // 75: kernels run on compute capability 7.5 and newer; 0: none were compiled
};

// Fills in the properties of this build.
Build thisBuild(int torchCuda);

struct Usable {
    int index = 0;  // N of "cuda:N"
    Gpu gpu;
};

struct Choice {
    std::vector<Usable> usable;  // ascending
    // The reason why a GPU cannot be used, or is slower than it could be. Empty without NVIDIA hardware.
    std::vector<std::string> missing;
};

Choice choose(const Driver& driver, const Build& build);

}  // namespace hopscope::gpu
