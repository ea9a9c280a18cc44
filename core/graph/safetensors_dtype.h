#pragma once

#include <optional>
#include <string>

#include "base/tensor.h"

namespace hopscope::graph {

// "F32" and the like; nullopt for codes that the format or tensors lack.
std::optional<base::DType> safetensorsDType(const std::string& code);
const char* safetensorsCode(base::DType dtype);  // null pointer for complex128

}  // namespace hopscope::graph
