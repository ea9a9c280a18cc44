#pragma once

// Private to the fake device: LibTorch's operators on it.

#include <ATen/ATen.h>

#include "fake_device/clocks.h"

namespace hopscope::fake_device {

// The bytes of a device tensor as a CPU tensor, with its shape and strides.
at::Tensor hostView(const at::Tensor& onDevice);
// The stream that operators on this tensor are queued on.
int laneOfTensor(const at::Tensor& onDevice);
void touchTensor(const at::Tensor& onDevice, Mark mark, bool write);
// Gives a result of an operator that was computed on the CPU its place on the device.
at::Tensor toDevice(const at::Tensor& computed, c10::Device device, Mark mark);
// Changes a tensor's shape, with new memory where the old does not suffice.
const at::Tensor& resizeTensor(const at::Tensor& tensor, at::IntArrayRef size, std::optional<at::MemoryFormat> format);

at::Tensor copyTensor(const at::Tensor& from, const at::Tensor& to, bool nonBlocking);

void registerOperators();
void registerCells();
void registerFallback();

}  // namespace hopscope::fake_device
