#pragma once

// A file that was exported on a GPU names its device in the code: "cuda:0" where a tensor is made or moved.

#include <map>
#include <string>

#include <torch/csrc/jit/api/module.h>

namespace hopscope::loader {

// Puts the CPU in place of every other device in the module's functions and attributes, in memory. Says which devices stood
// there and in how many places; devices that the code puts together from strings as it runs are replaced uncounted. To be
// called before anything of the module runs.
std::map<std::string, int> rewriteDevices(torch::jit::Module& module);

}  // namespace hopscope::loader
