#pragma once

// The CUDA kernels of strips compiled for the host, with the code of a GPU's warps, which strip_on_host.h leaves out.

#include "kernels/strip.h"

namespace hopscope::kernels {

// By the kernel of a shape, or the one that reads the steps (kNoShape).
int stripInWarps(const StripProgram& program, const StripArguments& arguments, int shape);

}  // namespace hopscope::kernels
