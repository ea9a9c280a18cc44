#pragma once

// What the results of an operator share with its operands, as their storages say, beside what the table of operators
// claims. For the LibTorch rooms only.

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <vector>

#include "operators/operators.h"

namespace hopscope::loader {

// The storage's address, which names it while it lives; nullptr for tensors without one (sparse ones).
const void* storageOf(const at::Tensor& tensor);

// A part of a sentence, "gives a view of its first operand where the table expects memory of its own", if the
// observation contradicts the claim. Operands are all tensors among the arguments, in order; results without a storage
// are not judged.
std::optional<std::string> contradiction(const operators::Operator& claim, const std::vector<at::Tensor>& operands,
                                         const std::vector<at::Tensor>& results);

// What is known of the first operand's other graphs.
struct Layout {
    bool strided = false;  // it follows from an input that is not in row-major order, as another user's may be
    bool counted = false;  // its extents follow from what tensors hold, and may be 0 or 1 elsewhere
};

// Whether an operator that gives a view or a copy, as the layout of its operand demands, may decide otherwise on
// another graph. Elements in row-major order without gaps stay so whatever the extents are; other layouts are told
// apart by extents of 2 and more, which no larger graph makes smaller.
bool sharingVaries(const at::Tensor& operand, Layout layout);

}  // namespace hopscope::loader
