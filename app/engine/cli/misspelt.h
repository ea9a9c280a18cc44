#pragma once

#include <string>

#include "base/result.h"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace hopscope::engine {

// The mistake in a command line; if there is none, the text of --help or --version, which the parser throws as exceptions
// as well. An unknown command or option is a mistake even next to --help, and the hint is the nearest known one.
base::Result<std::string> explained(const CLI::App& app, const CLI::ParseError& error, int count,
                                    const char* const* arguments);

}  // namespace hopscope::engine
