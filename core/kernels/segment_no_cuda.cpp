#include "kernels/segment.h"

namespace hopscope::kernels {

int segmentCuda(const SegmentArguments&, void*) { return kNoCuda; }

const char* cudaErrorText(int) { return "this build has no CUDA kernels"; }

}  // namespace hopscope::kernels
