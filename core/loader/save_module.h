#pragma once

#include <string>

#include "base/result.h"

namespace torch::jit {
struct Module;
}

namespace hopscope::loader {

// Writes a TorchScript file. Fails with Resources if the file cannot be written, and may leave a part of it
// (torch::jit::Module::save ends the process in that case: its writer throws while it is destroyed), and with Internal
// if LibTorch refuses the module.
base::Status saveModule(const torch::jit::Module& module, const std::string& path);

}  // namespace hopscope::loader
