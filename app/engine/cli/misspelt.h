#pragma once

#include <string>

#include "base/result.h"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace hopscope::engine {

// Returns the mistake in a command line as an error. If there is none, returns the text of --help or --version, which
// the parser also throws as exceptions. An unknown command or option is a mistake even next to --help; the hint is the
// nearest known one.
base::Result<std::string> explained(const CLI::App& app, const CLI::ParseError& error, int count,
                                    const char* const* arguments);

}  // namespace hopscope::engine
