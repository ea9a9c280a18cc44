#pragma once

// Private to executor: computes regions of steps in strips.

#include <vector>

#include <ATen/ATen.h>

#include "executor/program/strips.h"
#include "executor/session/session.h"

namespace hopscope::executor {

struct StripInputs {
    const StripPart& part;
    std::vector<at::Tensor> tables;          // as the part's tables; undefined: the table is a number
    std::vector<DividedTable> divided = {};  // GPU, by table: those with places have rows on the host
    std::vector<at::Tensor> columns;         // by table; Gathered: the row for each edge of the batch
    at::Tensor offsets;                      // destinations + 1, from any number on
    bool alone;                              // on the calling thread, as in a tile; otherwise on all cores
    // GPU: the first offset, and the number of edges; the rest as in SegmentInputs.
    std::int64_t first = 0, messages = 0;
    at::Tensor pieces = {};
    std::int64_t pieceFirst = 0;
};

// Returns the type and the device of rows.
at::TensorOptions rowOptions(const StripInputs& inputs);

// Returns one tensor per output of the part, in the shapes of these values, on the session's device. Allocates these
// tensors, and scratch memory that does not depend on the number of rows, except that of a GPU (stripWorkBytes()).
// If the kernels cannot run on this GPU, LibTorch's operators compute the steps one by one, and a note says so once.
std::vector<at::Tensor> runStrips(const StripInputs& inputs, Session& session);

// Returns the same by LibTorch's operators, with a row of memory for each edge.
std::vector<at::Tensor> runSteps(const StripInputs& inputs, Session& session);

}  // namespace hopscope::executor
