#pragma once

// The CUDA kernels of strips compiled for the host: stripCuda with pointers to host memory, done when it returns.

#include "kernels/strip.h"

namespace hopscope::kernels {

int stripOnHost(const StripProgram& program, const StripArguments& arguments, void* stream);
// By the kernel that reads the steps, whatever the program's shape.
int readStripOnHost(const StripProgram& program, const StripArguments& arguments);

}  // namespace hopscope::kernels
