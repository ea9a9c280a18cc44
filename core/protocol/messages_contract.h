#pragma once

// Tables of docs/ from described messages.

#include <vector>

#include "schema/contract.h"

namespace hopscope::protocol {

// All kinds of events in one table "events", and the rates of machines.
std::vector<schema::DocumentedStruct> messageTables();
// The tables of schema/plan_answers.h.
std::vector<schema::DocumentedStruct> planAnswerTables();

}  // namespace hopscope::protocol
