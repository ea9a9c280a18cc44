#include "kernels/segment.h"
#include "kernels/strip_launch.h"

namespace hopscope::kernels {

int segmentCuda(const SegmentArguments&, void*) { return kNoCuda; }

int launchStrips(const StripLaunch&, void*) { return kNoCuda; }

const char* cudaErrorText(int) { return "this build has no CUDA kernels"; }

}  // namespace hopscope::kernels
