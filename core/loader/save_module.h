#pragma once

#include <string>

#include "base/result.h"

namespace torch::jit {
struct Module;
}

namespace hopscope::loader {

// Writes a TorchScript file. Fails with Resources if the file cannot be written, and with Internal if LibTorch refuses
// the module; a part of the file may then remain. (torch::jit::Module::save ends the process if it cannot write,
// because its writer throws in its destructor.)
base::Status saveModule(const torch::jit::Module& module, const std::string& path);

}  // namespace hopscope::loader
