#pragma once

// Private to export: the text of the generated module, in Python and for the compiler of TorchScript.

#include <string>

#include "export/stages.h"

namespace hopscope::exporter {

// stages.py. `title`: the first line of its documentation.
std::string pythonSource(const Stages& stages, const std::string& title);

// The methods alone, without what Python needs around them.
std::string scriptSource(const Stages& stages);

}  // namespace hopscope::exporter
