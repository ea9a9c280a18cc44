#pragma once

#include "cli/arguments.h"

namespace hopscope::engine {

// Asks at a terminal whether to run a model file that the user has not agreed to, if the command would run it. The
// answer yes is an agreement (pipeline/opening/trust.h); after any other answer, the command is refused or draws the
// model.
void askToTrust(const Command& command);

}  // namespace hopscope::engine
