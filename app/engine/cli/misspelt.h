#pragma once

#include <string>

#include "base/result.h"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace hopscope::engine {

// The text of --help or --version, which the parser throws as exceptions like every mistake; otherwise the mistake. For an
// unknown command or long option the hint is the nearest known one.
base::Result<std::string> explained(const CLI::App& app, const CLI::ParseError& error, int count,
                                    const char* const* arguments);

}  // namespace hopscope::engine
