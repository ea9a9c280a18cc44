#pragma once

// Private to kernels: decides which narrow rows of edges a GPU keeps from one phase to later ones.

#include <cstdint>
#include <vector>

#include "kernels/strip.h"

namespace hopscope::kernels {

struct KeptRows {
    std::vector<bool> kept;             // by buffer of edges
    std::vector<std::uint32_t> phases;  // by step, as StripStep::phases
};

// Steps whose rows are kept when a later phase begins are not repeated in it, nor is what only they need. Rows are kept
// if they are narrow, and if fewer bytes of tables are then read along edges.
KeptRows keptRows(const StripProgram& program);

}  // namespace hopscope::kernels
