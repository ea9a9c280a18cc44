#pragma once

// The CUDA kernels compiled for the host: segmentCuda with pointers to host memory, done when it returns.

#include "kernels/segment.h"

namespace hopscope::kernels {

int segmentOnHost(const SegmentArguments& arguments, void* stream);
const char* errorTextOnHost(int code);

}  // namespace hopscope::kernels
