#pragma once

// The figures of a stage (plan/figures.h) in the Python package.

#include <string>

namespace hopscope::protocol {

// The module _figures.py.
std::string pythonFigures();

}  // namespace hopscope::protocol
