#pragma once

#include "base/tensor.h"
#include "json/reader.h"

namespace hopscope::schema {

// "float32" and so on; refuses anything that is no dtype.
base::DType readDType(const json::Reader& reader);

}  // namespace hopscope::schema
