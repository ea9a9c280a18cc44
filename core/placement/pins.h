#pragma once

// A strategy's plan with the user's own decisions.

#include <vector>

#include "placement/strategy.h"

namespace hopscope::placement {

// The strategy's stored values, with the pinned ones added and removed (in order; the last pin on a value counts).
// Checkpoint the value is stored, and read by later stages that need it. If no later stage would read it, its consumers
// wait for it: they are cut off there, with one more stage if necessary, and stores that no stage reads any more are
// removed.
//   NoCheckpoint  the value is recomputed wherever it is needed.
// Rules support no other kind of pin. Without pins, returns exactly the strategy's plan. Fails with Unsupported, naming
// the value's operator, module path and source: where checkPin does, and where no legal plan is left, with the smallest
// set of pins in conflict.
base::Result<plan::Plan> makePlan(const analysis::Analysis& analysis, Strategy strategy,
                                  const std::vector<plan::Pin>& pins);

// "store v35 of op42 aten::relu in convs.1 (net.py:12: `x = x.relu()`)".
std::string describePin(const analysis::Analysis& analysis, const plan::Pin& pin);

// Fails with Unsupported if a value cannot be stored or pinned (no rows, structure alone, inputs, parameters), has to
// be stored (results of the model), is not an operand of the consumer, or is neither gathered nor aggregated.
base::Status checkPin(const analysis::Analysis& analysis, const plan::Pin& pin);

// The pins that count, each once, in their order: see base::PinKind.
std::vector<plan::Pin> settled(const std::vector<plan::Pin>& pins);

// The reason why a value cannot be pinned; nullopt if it can. Constant time.
std::string whyNotStorable(const analysis::Analysis& analysis, plan::ValueId value);

// Whether a stage can store the value for others. Constant time.
bool isStorable(const analysis::Analysis& analysis, plan::ValueId value);

}  // namespace hopscope::placement
