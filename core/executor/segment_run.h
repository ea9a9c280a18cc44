#pragma once

// Private to executor: the segment instruction on tensors.

#include <ATen/ATen.h>

#include "executor/loop_program.h"
#include "executor/session.h"

namespace hopscope::executor {

struct SegmentInputs {
    at::Tensor source;        // rows to gather from, or messages
    at::Tensor columns;       // undefined: messages in order
    at::Tensor weight;        // undefined: none
    at::Tensor offsets;       // destinations + 1
    std::int64_t first = 0;   // where offsets begin: above 0 in a slice of a whole graph's, whose columns are all there
    std::int64_t count = -1;  // of messages in such a slice
    at::Tensor pieces;        // GPU: of the hubs, as kernels::hubPieces gives them; undefined: no hubs
};

// One row per destination, on the device of the session. The kernel where there is one (float32 and half types, rows whose
// elements follow each other), else LibTorch's operators; both give the same bits each time. Kernels that cannot run on
// this GPU are noted once; a launch that fails otherwise raises Internal.
at::Tensor runSegment(const Segment& segment, const SegmentInputs& inputs, Session& session);

}  // namespace hopscope::executor
