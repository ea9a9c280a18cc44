#pragma once

// Applies the user's decisions to the plan of a strategy.

#include <vector>

#include "placement/strategy.h"

namespace hopscope::placement {

// Returns the plan of a strategy, with the pinned values added to or removed from its stored values. Of the pins on a
// value, the last one counts:
//   Checkpoint    the value is stored, and read by the later stages that need it. If no later stage would read it, its
//                 consumers wait for it, in an additional stage if necessary. Stores that no stage reads any longer are
//                 removed.
//   NoCheckpoint  the value is recomputed wherever it is needed.
// Rules support no other kind of pin. Without pins, returns exactly the strategy's plan. Fails with Unsupported, naming
// the value's operator, module path and source, if checkPin does or if no legal plan remains; in the latter case with a
// set of conflicting pins that has none to spare (or, of more than 64 pins, all).
base::Result<plan::Plan> makePlan(const analysis::Analysis& analysis, Strategy strategy,
                                  const std::vector<plan::Pin>& pins);

// Returns the text of a pin, with a source line if it is known: "store 'relu after convs.0' (net.py:12)".
std::string describePin(const analysis::Analysis& analysis, const plan::Pin& pin);

// Checks a pin. Fails with Unsupported for values that cannot be stored: inputs, parameters, constants, numbers, sparse
// matrices, and values that have no rows or follow from the structure alone. A NoCheckpoint pin on an output is refused
// as well. So is a Cut pin if the value is not an operand of the consumer, and a HopStage pin if the value is neither
// gathered nor aggregated.
base::Status checkPin(const analysis::Analysis& analysis, const plan::Pin& pin);

// Returns the pins that count, each once, in order: of pins that answer the same question (plan::sameQuestion), the
// last one.
std::vector<plan::Pin> settled(const std::vector<plan::Pin>& pins);

// Returns the reason why a value cannot be stored; empty if it can be. Constant time.
std::string whyNotStorable(const analysis::Analysis& analysis, plan::ValueId value);

// True if a stage can store the value for later stages. Constant time.
bool isStorable(const analysis::Analysis& analysis, plan::ValueId value);

}  // namespace hopscope::placement
