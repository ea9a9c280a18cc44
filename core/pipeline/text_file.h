#pragma once

#include <string>

#include "base/result.h"

namespace hopscope::pipeline {

// The whole file. Fails with Input if it is missing, unreadable or larger than 64 MiB.
base::Result<std::string> readText(const std::string& path);

// Writes `text` to a temporary file beside `path` and renames it. Fails with Input if no file can be
// created there, with Resources if writing fails.
base::Status writeTextFile(const std::string& text, const std::string& path);

}  // namespace hopscope::pipeline
