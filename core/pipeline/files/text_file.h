#pragma once

#include <string>

#include "base/result.h"

namespace hopscope::pipeline {

// Reads a whole file. Fails with Input if it is missing, no regular file, unreadable or larger than 64 MiB.
base::Result<std::string> readText(const std::string& path);

// Writes `text` to a temporary file next to `path` and renames it to `path`. Fails with Input if no file can be created
// there, and with Resources if it cannot be written or renamed.
base::Status writeTextFile(const std::string& text, const std::string& path);

// Returns the path of a file that Hopscope keeps for the user: hopscope/NAME in the folder named by the environment
// `variable`, otherwise in the folder `below` ("/.cache") of the home folder. Returns an empty string if there is
// neither.
std::string usersFile(const char* variable, const std::string& below, const std::string& name);

}  // namespace hopscope::pipeline
