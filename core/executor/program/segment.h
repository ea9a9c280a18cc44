#pragma once

// Private to executor: describes gathering along edges and combining by destination as one instruction.

#include "analysis/rows/classes.h"
#include "kernels/segment.h"

namespace hopscope::executor {

using Register = int;

struct Segment {
    ir::ValueId source;     // the value whose rows are gathered, or the messages themselves
    Register from = -1;     // -1: the whole table, read in place
    Register columns = -1;  // rows of the source; -1: the source has one row per message, in the order of the class
    Register weight = -1;   // -1: none
    ir::ValueId weightValue;
    ir::RowClass messages, sourceRows;
    ir::SpaceId columnSpace;  // in place: the table and key that give the columns
    ir::KeyId columnKey;
    std::int64_t width = 1, heads = 1;
    kernels::Combine combine = kernels::Combine::Sum;
    double empty = 0;
};

}  // namespace hopscope::executor
