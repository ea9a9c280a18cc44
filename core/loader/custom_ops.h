#pragma once

#include <string>
#include <vector>

namespace hopscope::loader {

// Registers the operators of torch_scatter, torch_sparse, torch_cluster and pyg, unless a library already has; once per
// process. TorchScript does not load a file with an unknown operator, even in a branch that never runs. The scatter
// operators of torch_scatter work; all others are stubs that throw when called. Also registers hopscope::select_rank
// and pad_groups, to which analysis rewrites medians, quantiles and groups as matrices.
void registerCustomOps();

// True if the operator is one of the stubs.
bool isStub(const std::string& name);

// Describes an operator that a file calls, and that nothing here provides. It is missing from "PyTorch" or, if it is one
// of PyTorch's own, from this version of LibTorch.
struct MissingOperator {
    std::string from, hint;
};
MissingOperator missingOperator(const std::string& operatorName);

// Returns the Python package that provides the operator's namespace: "torch-sparse" for torch_sparse.
std::string libraryOf(const std::string& operatorName);

}  // namespace hopscope::loader
