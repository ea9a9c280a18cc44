#pragma once

// Private to forecast: what one batch of a loop moves, as a linear function of its row counts. A replay of the batch's
// instructions that makes nothing: it keeps the same account as Batch and Block.

#include <map>
#include <set>

#include "executor/loop_program.h"
#include "executor/residents.h"
#include "executor/structure.h"

namespace hopscope::forecast {

struct Traffic {
    struct PerRow {
        std::int64_t written = 0;
        std::int64_t structure = 0;  // structure-only values read, and `numbers`
        std::int64_t numbers = 0;    // row numbers made, which live as long as the batch
        std::map<ir::ValueId, std::int64_t> read;
    };
    std::map<ir::RowClass, PerRow> rows;  // bytes per row of each class
    std::int64_t numbersPerBatch = 0;     // part of the structure
};

// For destinations in order.
Traffic trafficOf(const analysis::Analysis& analysis, executor::Structure& structure,
                  const executor::LoopProgram& program, const executor::ResidentChoice& choice);

}  // namespace hopscope::forecast
