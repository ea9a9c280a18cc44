#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace CLI {
class App;
}

namespace hopscope::engine {

// "see `hopscope-engine bench machine --help`"
std::string helpOf(const CLI::App& command);

// The error of a command line that names a command or a long option which does not exist, with the nearest one as its
// hint; nothing if all exist. For command lines that the parser has refused.
std::optional<base::Error> misspelt(const CLI::App& app, int count, const char* const* arguments);

}  // namespace hopscope::engine
