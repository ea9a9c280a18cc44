#pragma once

// Writes the settings (base/settings.h) as Python code and as a table of docs/.

#include <string>

namespace hopscope::protocol {

// Returns the text of packaging/python/src/hopscope/_contract.py.
std::string pythonSettings();

// Returns a Markdown table with a row per setting.
std::string settingsTable();

}  // namespace hopscope::protocol
