#pragma once

// Private to export: writes stages.pt.

#include "base/tensor.h"
#include "schema/split_code.h"

namespace hopscope::exporter {

// Compiles `source` into a module with `weights`, and writes it to `path`. Fails with Internal if LibTorch refuses the
// source, and with Resources if the file cannot be written.
base::Status saveScript(const std::string& source, const schema::Code& code, const base::TensorMap& weights,
                        const std::string& path);

}  // namespace hopscope::exporter
