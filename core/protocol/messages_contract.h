#pragma once

// Writes tables of docs/ from described messages.

#include <vector>

#include "schema/contract.h"

namespace hopscope::protocol {

// Returns all kinds of events in one table "events", and the tables of schema/machine_rates.h.
std::vector<schema::DocumentedStruct> messageTables();
// Returns the tables of schema/plan_answers.h.
std::vector<schema::DocumentedStruct> planAnswerTables();

}  // namespace hopscope::protocol
