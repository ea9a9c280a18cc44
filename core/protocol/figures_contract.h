#pragma once

// Writes the figures of a stage (plan/figures.h) as Python code.

#include <string>

namespace hopscope::protocol {

// Returns the text of the module _figures.py.
std::string pythonFigures();

}  // namespace hopscope::protocol
