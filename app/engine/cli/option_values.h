#pragma once

// Options that are read as text, as their meaning. Fail with Usage.

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace hopscope::engine {

// A positive number; none for "auto".
base::Result<std::optional<std::int64_t>> parseBatch(const std::string& text);
// Bytes; none for "".
base::Result<std::optional<std::int64_t>> parseMemory(const std::string& text);

}  // namespace hopscope::engine
