#pragma once

#include <string>

#include "cli/command_tree.h"

namespace hopscope::engine {

// Returns the answer to --help, in lines of up to 100 characters.
std::string helpText(const CommandText& command);

// Returns "How cuts are chosen [default: optimal]".
std::string meaningOf(const OptionText& option);

// Returns "-o, --output DIR", or the name of an argument.
std::string headingOf(const OptionText& option);

}  // namespace hopscope::engine
