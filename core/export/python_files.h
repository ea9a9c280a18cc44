#pragma once

// Private to export: the stages as Python to read and to change.

#include <map>
#include <string>

#include "export/stages.h"

namespace hopscope::exporter {

// The files by name: prologue.py, stage_1.py, stage_2.py, ..., and results.py where outputs have no rows. Each contains
// an nn.Module per method: Prologue, Stage1 or, if a stage has a loop per node type, Stage1User, with the method as its
// `forward` and the weights that it uses; METHODS lists them by the names of the methods.
std::map<std::string, std::string> pythonFiles(const Stages& stages, const analysis::ValueNames& names,
                                               const std::string& model, const std::string& tool);

}  // namespace hopscope::exporter
