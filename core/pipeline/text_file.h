#pragma once

#include <string>

#include "base/result.h"

namespace hopscope::pipeline {

// The whole file. Fails with Input if it is missing, unreadable or larger than 64 MiB.
base::Result<std::string> readText(const std::string& path);

// Writes `text` to a temporary file next to `path` and renames it. Fails with Input if no file can be
// created there, with Resources if writing fails.
base::Status writeTextFile(const std::string& text, const std::string& path);

// The path of a file that Hopscope keeps for the user: hopscope/NAME in the folder that the environment's `variable`
// names, otherwise in `below` ("/.cache") of the home folder; empty if there is neither.
std::string usersFile(const char* variable, const std::string& below, const std::string& name);

}  // namespace hopscope::pipeline
