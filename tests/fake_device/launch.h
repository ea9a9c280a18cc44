#pragma once

// Private to the fake device: launches of the segment kernel.

#include "kernels/segment.h"

namespace hopscope::fake_device {

// As kernels::segmentCuda, with the pointers and the stream checked as the device would.
int launchSegment(const kernels::SegmentArguments& arguments, void* stream);

}  // namespace hopscope::fake_device
