#pragma once

// Private to export: the text of methods, in Python and for the compiler of TorchScript.

#include <string>

#include "export/stages.h"

namespace hopscope::exporter {

// "    def NAME(self, x: Tensor) -> RESULT:".
std::string headText(const Method& method, const std::string& name, const std::string& result);

// Its statements, headed by where they come from: one per line or, in Python where that is too long, one argument per line.
std::string bodyText(const Method& method, std::string Text::*spelling);

// All methods for the compiler of TorchScript.
std::string scriptSource(const Stages& stages);

}  // namespace hopscope::exporter
