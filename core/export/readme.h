#pragma once

// Private to export: writes the README of an exported folder.

#include "export/export.h"

namespace hopscope::exporter {

std::string readme(const Request& request, const Bundle& bundle);

}  // namespace hopscope::exporter
