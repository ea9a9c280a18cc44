#pragma once

// `bench plans`: what each strategy's plan was predicted to cost and move, and what it did, in one process and one report.

#include "arguments.h"
#include "session.h"

namespace hopscope::engine {

// Makes the plan of every strategy and objective, runs each `command.repeat` times (without verification; in turn, so that a
// machine that slows down slows down all) and prints predicted and measured seconds (the best run) and bytes. The ranking
// holds if no plan that was predicted to be faster was slower by more than a tenth. Returns 0, or 5 where bytes differ from
// the prediction in a run whose batches are those that it was made for.
base::Result<int> benchPlans(const BenchPlansCommand& command, Session& session);

}  // namespace hopscope::engine
