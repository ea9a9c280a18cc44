#pragma once

// Operators of LibTorch that use numbers of a tensor as places in memory without looking at them. For the LibTorch modules
// only.

#include <ATen/core/stack.h>

#include <string>

namespace hopscope::loader {

// Looks at the arguments of one call, in the order of the operator's schema; raises c10::Error where the call would reach
// beyond the memory of a tensor. O(the numbers that are places).
using BoundsCheck = void (*)(const torch::jit::Stack& arguments);

// The check of "aten::segment_reduce"; null for operators that look for themselves, which are nearly all.
BoundsCheck boundsCheckOf(const std::string& name);

}  // namespace hopscope::loader
