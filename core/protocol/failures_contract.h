#pragma once

// The kinds of failures (base/failures.h) as Python and as a table of the documentation.

#include <string>

namespace hopscope::protocol {

// packaging/python/src/hopscope/_failures.py.
std::string pythonFailures();

// Markdown, a row per exit code.
std::string failuresTable();

}  // namespace hopscope::protocol
