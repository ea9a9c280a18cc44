#pragma once

// Determines the files and folders that a command can reach once it is confined (confine/confine.h): those that its
// options name.

#include "cli/arguments.h"
#include "cli/console.h"
#include "confine/confine.h"

namespace hopscope::engine {

// Returns true if a command reads files that may come from others. Only such a command is confined.
bool readsFiles(const Command& command);

// Opens the folders that the command writes to. Fails as the command would, or with Cancelled.
base::Result<Outputs> openOutputs(const Command& command, const std::stop_token& stop);

confine::Access accessOf(const Command& command, const Outputs& outputs);

}  // namespace hopscope::engine
