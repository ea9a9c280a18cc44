#pragma once

#include <string>
#include <vector>

namespace hopscope::loader {

// Registers the operators of torch_scatter, torch_sparse, torch_cluster and pyg, unless a library already has; once per
// process. TorchScript does not load a file with an unknown operator, even in a branch that never runs. The scatter
// operators of torch_scatter work; all others are stubs that throw when called. hopscope::select_rank and pad_groups
// are the operators that analysis makes of medians, quantiles and groups as matrices.
void registerCustomOps();

// True if the operator is one of the stubs.
bool isStub(const std::string& name);

// "torch_sparse" -> "torch-sparse": the Python package that provides a namespace.
std::string libraryOf(const std::string& operatorName);

}  // namespace hopscope::loader
