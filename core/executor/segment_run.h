#pragma once

// Private to executor: the segment instruction on tensors.

#include <ATen/ATen.h>

#include "executor/loop_program.h"

namespace hopscope::executor {

struct SegmentInputs {
    at::Tensor source;   // rows to gather from, or messages
    at::Tensor columns;  // undefined: messages in order
    at::Tensor weight;   // undefined: none
    at::Tensor offsets;  // destinations + 1
    void* stream = nullptr;
};

// One row per destination. The kernel where there is one (float32, rows whose elements follow each other), else LibTorch's
// operators; both deterministic on the CPU.
at::Tensor runSegment(const Segment& segment, const SegmentInputs& inputs);

}  // namespace hopscope::executor
