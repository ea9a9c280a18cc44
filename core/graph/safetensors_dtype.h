#pragma once

#include <optional>
#include <string>

#include "base/tensor.h"

namespace hopscope::graph {

// Returns the dtype of a code such as "F32"; nullopt if the format or base::DType lacks it.
std::optional<base::DType> safetensorsDType(const std::string& code);
const char* safetensorsCode(base::DType dtype);  // null pointer for complex128

}  // namespace hopscope::graph
