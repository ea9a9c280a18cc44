#pragma once

// Private to the fake device: what CUDA's libraries ask of operands, and the CPU's kernels do not.

#include <span>

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

namespace hopscope::fake_device {

// Operators that LibTorch puts together from others where a device has no kernel of its own; CUDA has cuDNN's.
std::span<const char* const> recurrentOperators();

// Throws c10::Error with CUDA's sentence if CUDA would not compute the operator with these arguments and the settings of
// at::globalContext().
void checkDemands(const c10::OperatorHandle& op, std::span<const c10::IValue> arguments);

// Returns the floating-point operations of a matrix product with these arguments; 0 for other operators.
std::int64_t operationsOf(const c10::OperatorHandle& op, std::span<const c10::IValue> arguments);

// Those of all devices.
void freeWorkspaces();

}  // namespace hopscope::fake_device
