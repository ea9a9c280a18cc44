#pragma once

// Private to export: writes the stages as Python code that users can read and change.

#include <map>
#include <string>

#include "export/stages.h"

namespace hopscope::exporter {

// Returns the texts of the files by name: prologue.py, stage_1.py, stage_2.py, ..., and results.py if there are outputs
// without rows. Each file contains an nn.Module for each method, with the method as its `forward` and the weights that
// it uses: Prologue, Stage1 or, if a stage has several loops, Stage1User. METHODS lists them by the names of the
// methods.
std::map<std::string, std::string> pythonFiles(const Stages& stages, const analysis::ValueNames& names,
                                               const std::string& model, const std::string& tool);

}  // namespace hopscope::exporter
