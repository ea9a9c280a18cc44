#pragma once

// Writes the kinds of failures (base/failures.h) as Python code and as a table of docs/.

#include <string>

namespace hopscope::protocol {

// Returns the text of packaging/python/src/hopscope/_failures.py.
std::string pythonFailures();

// Returns a Markdown table with a row per exit code.
std::string failuresTable();

}  // namespace hopscope::protocol
