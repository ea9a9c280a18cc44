#pragma once

// The settings (base/settings.h) as Python and as a table of docs/.

#include <string>

namespace hopscope::protocol {

// packaging/python/src/hopscope/_contract.py.
std::string pythonSettings();

// Markdown, a row per setting.
std::string settingsTable();

}  // namespace hopscope::protocol
