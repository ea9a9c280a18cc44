// Recurrent cells that LibTorch has as one kernel for devices, and not at all for the CPU.

#include <ATen/ATen.h>
#include <torch/library.h>

#include "fake_device/operators.h"

namespace hopscope::fake_device {

namespace {

using MaybeTensor = std::optional<at::Tensor>;

at::Tensor withBias(const at::Tensor& gates, const MaybeTensor& bias)
{
    return bias && bias->defined() ? gates + *bias : gates;
}

// New state, and memory that only training reads.
std::tuple<at::Tensor, at::Tensor> gruCell(const at::Tensor& inputGates, const at::Tensor& hiddenGates,
                                           const at::Tensor& state, const MaybeTensor& inputBias,
                                           const MaybeTensor& hiddenBias)
{
    const auto input = withBias(inputGates, inputBias).chunk(3, 1);
    const auto hidden = withBias(hiddenGates, hiddenBias).chunk(3, 1);
    const at::Tensor reset = (input[0] + hidden[0]).sigmoid(), update = (input[1] + hidden[1]).sigmoid();
    const at::Tensor fresh = (input[2] + reset * hidden[2]).tanh();
    return {fresh + update * (state - fresh), at::empty({state.size(0), state.size(1) * 5}, state.options())};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> lstmCell(const at::Tensor& inputGates, const at::Tensor& hiddenGates,
                                                        const at::Tensor& cell, const MaybeTensor& inputBias,
                                                        const MaybeTensor& hiddenBias)
{
    const auto gates = (withBias(inputGates, inputBias) + withBias(hiddenGates, hiddenBias)).chunk(4, 1);
    const at::Tensor next = gates[1].sigmoid() * cell + gates[0].sigmoid() * gates[2].tanh();
    return {gates[3].sigmoid() * next.tanh(), next, at::empty_like(inputGates)};
}

}  // namespace

void registerCells()
{
    static torch::Library library(torch::Library::IMPL, "aten", c10::DispatchKey::PrivateUse1, __FILE__, __LINE__);
    library.impl("_thnn_fused_gru_cell", &gruCell);
    library.impl("_thnn_fused_lstm_cell", &lstmCell);
}

}  // namespace hopscope::fake_device
