#pragma once

// The CUDA kernels of strips compiled for the host: stripCuda with pointers to host memory, done when it returns.

#include "kernels/strip.h"

namespace hopscope::kernels {

int stripOnHost(const StripProgram& program, const StripArguments& arguments, void* stream);

}  // namespace hopscope::kernels
