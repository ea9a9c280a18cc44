#pragma once

// Private to executor: computes regions of steps in strips.

#include <vector>

#include <ATen/ATen.h>

#include "executor/program/strips.h"

namespace hopscope::executor {

struct StripInputs {
    const StripPart& part;
    std::vector<at::Tensor> tables;   // as the part's tables; undefined: the table is a number
    std::vector<at::Tensor> columns;  // by table; Gathered: the row for each edge of the batch
    at::Tensor offsets;               // destinations + 1, from any number on
    bool alone;                       // on the calling thread, as in a tile; otherwise on all cores
};

// Returns one tensor per output of the part, in the shapes of these values. Allocates these tensors, and scratch memory
// that does not depend on the number of rows.
std::vector<at::Tensor> runStrips(const StripInputs& inputs, const analysis::Analysis& analysis);

}  // namespace hopscope::executor
