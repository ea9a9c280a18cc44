#pragma once

#include <string>

#include "cli/command_tree.h"

namespace hopscope::engine {

// The answer to --help, in lines of up to 100 characters.
std::string helpText(const CommandText& command);

// "How cuts are chosen [default: optimal]".
std::string meaningOf(const OptionText& option);

// "-o, --output DIR"; for an argument its name.
std::string headingOf(const OptionText& option);

}  // namespace hopscope::engine
