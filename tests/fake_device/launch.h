#pragma once

// Private to the fake device: launches of the segment and strip kernels.

#include "kernels/segment.h"
#include "kernels/strip.h"

namespace hopscope::fake_device {

// As kernels::segmentCuda, with the pointers and the stream checked as the device would.
int launchSegment(const kernels::SegmentArguments& arguments, void* stream);
// As kernels::stripCuda.
int launchStrips(const kernels::StripProgram& program, const kernels::StripArguments& arguments, void* stream);

}  // namespace hopscope::fake_device
