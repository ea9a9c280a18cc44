#pragma once

// Private to executor: computes regions of steps in strips.

#include <vector>

#include <ATen/ATen.h>

#include "executor/strips.h"

namespace hopscope::executor {

struct StripInputs {
    const StripPart& part;
    std::vector<at::Tensor> tables;   // of the part; undefined: its number
    std::vector<at::Tensor> columns;  // by table; Gathered: for each edge of the batch the row
    at::Tensor offsets;               // destinations + 1, from any number on
    bool alone;                       // in a tile, on the calling thread; otherwise on all cores
};

// One tensor per output of the part, in the shapes of these values. Allocates them and scratch memory that does not
// depend on the number of rows.
std::vector<at::Tensor> runStrips(const StripInputs& inputs, const analysis::Analysis& analysis);

}  // namespace hopscope::executor
