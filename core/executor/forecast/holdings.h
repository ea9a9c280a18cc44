#pragma once

// Private to forecast: computes the bytes that the registers of a loop hold after each of its instructions.

#include "analysis/analysis.h"
#include "executor/forecast/predict.h"
#include "executor/loop/batching.h"

namespace hopscope::forecast {

// Returns the holdings of a batch; `rows` gives the number of rows of each class. An operator counts as overwriting its
// operand if it would do so in a run (program/overwrite.h). The caller fills in the destination and the numbers of
// batches. At most quadratic in the program.
LoopHoldings holdingsOf(const analysis::Analysis& analysis, const executor::LoopProgram& program, bool gpu,
                        const executor::CountOf& rows);

// Returns whether a batch uses its own rows of the table in place, as it does on a CPU unless they are stored in a
// narrower type.
bool readsWhereItLies(const analysis::Analysis& analysis, const executor::Instruction& instruction,
                      base::StoreType store);

}  // namespace hopscope::forecast
