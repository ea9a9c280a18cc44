#pragma once

#include <string>

#include "base/result.h"

namespace hopscope::pipeline {

// A document on the disk. Input: it is missing, cannot be read or has more than 64 MiB.
base::Result<std::string> readText(const std::string& path);

// Writes `text` to a temporary file beside `path` and renames it. Input where no file can be made there, Resources where it
// cannot be written to the end.
base::Status writeTextFile(const std::string& text, const std::string& path);

}  // namespace hopscope::pipeline
