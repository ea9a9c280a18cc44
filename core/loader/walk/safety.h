#pragma once

// Which operators of a file may run.

#include <optional>
#include <string>

#include "base/result.h"

namespace hopscope::loader {

// Why an operator of this name may not run at all ("aten::save"), or nothing. `onTensors`: it takes or gives tensors;
// else operators on numbers, texts and containers may run, too. Instructions of the language are not asked about.
std::optional<base::Error> unknownOperator(const std::string& name, bool onTensors);

}  // namespace hopscope::loader
