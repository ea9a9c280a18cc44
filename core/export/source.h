#pragma once

// Private to export: writes the text of methods, in Python and for the TorchScript compiler.

#include <string>

#include "export/stages.h"

namespace hopscope::exporter {

// Returns the first line of a method: "    def NAME(self, x: Tensor) -> RESULT:".
std::string headText(const Method& method, const std::string& name, const std::string& result);

// Returns the statements of a method, with their origins in comments. Each statement is one line; in Python, a
// statement that is too long for a line has a line for each argument.
std::string bodyText(const Method& method, std::string Text::*spelling);

// Returns all methods for the TorchScript compiler.
std::string scriptSource(const Stages& stages);

}  // namespace hopscope::exporter
