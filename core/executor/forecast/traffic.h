#pragma once

// Private to forecast: computes the bytes that a batch of a loop reads and writes, as a linear function of its row
// counts. For each instruction, it counts the same bytes as Batch and Block do, without executing the instruction.

#include <map>
#include <set>

#include "executor/program/loop_program.h"
#include "executor/session/residents.h"
#include "executor/structure.h"

namespace hopscope::forecast {

struct Traffic {
    struct PerRow {
        std::int64_t written = 0;
        std::int64_t structure = 0;  // structure-only values that are read, and `numbers`
        std::int64_t numbers = 0;    // row numbers that are computed and kept until the end of the batch
        std::map<ir::ValueId, std::int64_t> read;
    };
    std::map<ir::RowClass, PerRow> rows;  // bytes per row of each class
    std::int64_t numbersPerBatch = 0;     // bytes of row numbers per batch, part of the structure
    PerRow once;                          // bytes per loop: tables that are read in place
    std::int64_t hostReads = 0;           // bytes per loop that a GPU's kernels read from the host
};

// Returns the traffic of a loop, assuming destinations in ascending order. Linear in the program.
Traffic trafficOf(const analysis::Analysis& analysis, executor::Structure& structure,
                  const executor::LoopProgram& program, const executor::ResidentChoice& choice);

}  // namespace hopscope::forecast
