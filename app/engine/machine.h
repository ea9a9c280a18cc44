#pragma once

// What `bench machine` has measured, kept for later plans in the user's cache folder (hopscope/machine.json).

#include <string>

#include "base/result.h"
#include "plan/machine.h"
#include "json/json.h"

namespace hopscope::engine {

// $XDG_CACHE_HOME or ~/.cache; empty if there is neither.
std::string machineFile();

// The measured rates of a device, or typical ones: a file that is missing or that cannot be read is as good as none.
plan::Machine machineFor(const std::string& device);

// Adds the machine to the file, or replaces what is known of its device. Fails with Resources.
base::Status keepMachine(const plan::Machine& machine);

json::Value machineValue(const plan::Machine& machine);
std::string describeMachine(const plan::Machine& machine);  // a table for people

}  // namespace hopscope::engine
