#pragma once

// A model's own forward in this process.

#include "base/result.h"
#include "base/tensor.h"
#include "loader/loader.h"

namespace hopscope::faults {

// Its outputs by name. Fails with Internal where forward raises an exception.
base::Result<base::TensorMap> ownForward(const loader::Model& model, const base::TensorMap& data);

}  // namespace hopscope::faults
