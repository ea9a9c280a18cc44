#pragma once

#include <string>

#include "base/result.h"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace hopscope::engine {

// The text of --help or --version, which are exceptions to the parser as every mistake is; else the mistake. Of a command or a
// long option that does not exist the hint is the nearest one.
base::Result<std::string> explained(const CLI::App& app, const CLI::ParseError& error, int count,
                                    const char* const* arguments);

}  // namespace hopscope::engine
