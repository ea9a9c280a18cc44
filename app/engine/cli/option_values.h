#pragma once

// Parses options that are given as text. The functions fail with Usage.

#include <optional>
#include <string>

#include "base/result.h"
#include "pipeline/options.h"

namespace hopscope::engine {

// Parses "2/3" as part 2 of 3; returns none for "".
base::Result<std::optional<pipeline::ShardOptions>> parseShard(const std::string& text);

}  // namespace hopscope::engine
