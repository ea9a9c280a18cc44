#pragma once

#include <string>
#include <vector>

namespace hopscope::loader {

// Registers the schemas of torch_scatter, torch_sparse, torch_cluster and pyg once per process, where no library has:
// a TorchScript file names them even in branches that never run, and does not load without. torch_scatter's scatters work;
// the others are stubs that throw when run.
void registerCustomOps();

// Whether the operator is one of the stubs.
bool isStub(const std::string& name);

// "torch_sparse" -> "torch-sparse": the Python package that provides a namespace.
std::string libraryOf(const std::string& operatorName);

}  // namespace hopscope::loader
