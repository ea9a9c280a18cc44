#pragma once

// Checks that the tensors that share memory after an operator has run are those that the table of operators declares.
// For the LibTorch modules only.

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <vector>

#include "operators/operators.h"

namespace hopscope::loader {

// Returns the address of the tensor's storage, which is unique while the storage exists; nullptr for sparse tensors,
// which have none.
const void* storageOf(const at::Tensor& tensor);

// Returns the contradiction between the results and the table; nullopt if there is none. The text completes a sentence
// that begins with the operator: "gives a view of its first operand where the table expects memory of its own".
// `operands`: all tensors among the arguments, in order. Results without a storage are skipped.
std::optional<std::string> contradiction(const operators::Operator& claim, const std::vector<at::Tensor>& operands,
                                         const std::vector<at::Tensor>& results);

// The ways in which the memory layout of an operand can differ on other graphs.
struct Layout {
    bool strided = false;  // depends on an input that is not in row-major order; other inputs may be
    bool counted = false;  // has sizes that depend on the contents of tensors, and can be 0 or 1 elsewhere
};

// True if an operator that returns a view or a copy, depending on the layout of its operand, can do the other on a
// different graph. A contiguous tensor is contiguous for all sizes. For other layouts only dimensions of size 2 or more
// matter, and these do not become smaller on a larger graph.
bool sharingVaries(const at::Tensor& operand, Layout layout);

}  // namespace hopscope::loader
