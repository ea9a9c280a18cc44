#pragma once

// Replaces the devices in the code of models that were exported on a GPU: "cuda:0" wherever a tensor is created or
// moved.

#include <map>
#include <string>

#include <torch/csrc/jit/api/module.h>

namespace hopscope::loader {

// Replaces every device other than the CPU in the functions and attributes of the module in memory. Returns the
// replaced devices with the number of occurrences of each. Devices that the code builds from strings at run time are
// replaced as well, but not counted. Must be called before any code of the module runs.
std::map<std::string, int> rewriteDevices(torch::jit::Module& module);

}  // namespace hopscope::loader
