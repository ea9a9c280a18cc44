#pragma once

#include "cli/arguments.h"

namespace hopscope::engine {

// Where the command would run a model file that the user has not agreed to, and somebody sits at the terminal, they are asked.
// The answer yes is an agreement (pipeline/trust.h); after any other one the command is refused, or draws the model.
void askToTrust(const Command& command);

}  // namespace hopscope::engine
