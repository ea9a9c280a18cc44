#include "fake_device/demands.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "fake_device/fake_device.h"
#include "fake_device/guard.h"

namespace hopscope::fake_device {

namespace {

using Reduction = at::CuBLASReductionOption;

constexpr std::int64_t workspaceSize = 64 << 10;  // more than predictions of memory may be off by; cuBLAS's are 32 MiB

constexpr std::array recurrent{"lstm.input",     "lstm.data",     "gru.input",      "gru.data",
                               "rnn_tanh.input", "rnn_tanh.data", "rnn_relu.input", "rnn_relu.data"};

bool isProduct(const std::string& name)
{
    return name == "aten::mm" || name == "aten::addmm" || name == "aten::mv" || name == "aten::addmv";
}

Reduction reductionOf(at::ScalarType type)
{
    const at::Context& c = at::globalContext();
    if (type == at::kHalf) return c.allowFP16ReductionCuBLAS();
    if (type == at::kBFloat16) return c.allowBF16ReductionCuBLAS();
    return Reduction::AllowReducedPrecisionWithSplitK;
}

void checkProduct(const at::Tensor& operand)
{
    TORCH_CHECK(
        reductionOf(operand.scalar_type()) != Reduction::DisallowReducedPrecisionDisallowSplitK,
        "torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction(..., allow_splitk=False) requires the "
        "cuBLASLt backend");
}

// Of each device and stream, from its first product on; never destroyed.
auto& workspaces()
{
    static auto& all = *new std::map<std::pair<c10::DeviceIndex, c10::StreamId>, at::Tensor>();
    return all;
}

void takeWorkspace(c10::Device device)
{
    const c10::Stream stream = c10::impl::VirtualGuardImpl(device.type()).getStream(device);
    at::Tensor& workspace = workspaces()[{device.index(), stream.id()}];
    if (!workspace.defined())
        workspace = at::empty({workspaceSize}, at::TensorOptions().dtype(at::kByte).device(device));
}

void checkStates(const c10::IValue& states)
{
    const auto all = states.isTensorList() ? states.toTensorVector() : std::vector<at::Tensor>{states.toTensor()};
    TORCH_CHECK(all.at(0).is_contiguous(), "rnn: hx is not contiguous");
    TORCH_CHECK(all.size() < 2 || all[1].is_contiguous(), "rnn: cx is not contiguous");
}

}  // namespace

std::int64_t workspaceBytes(int device)
{
    return workspaceSize *
           std::ranges::count_if(workspaces(), [&](const auto& each) { return each.first.first == device; });
}

void freeWorkspaces()
{
    if (workspaces().empty()) return;
    workspaces().clear();
    c10::getDeviceAllocator(deviceType)->emptyCache();
}

std::span<const char* const> recurrentOperators() { return recurrent; }

// Operands of addmm and the like come after what is added.
std::int64_t operationsOf(const c10::OperatorHandle& op, std::span<const c10::IValue> arguments)
{
    const std::string& name = op.schema().name();
    const bool batches = name == "aten::bmm" || name == "aten::baddbmm";
    if (!isProduct(name) && !batches) return 0;
    const std::size_t first = name.find("::add") != std::string::npos || name == "aten::baddbmm" ? 1 : 0;
    const at::Tensor &left = arguments[first].toTensor(), &right = arguments[first + 1].toTensor();
    return 2 * left.numel() * (right.dim() == 1 ? 1 : right.size(-1));
}

void checkDemands(const c10::OperatorHandle& op, std::span<const c10::IValue> arguments)
{
    const std::string& name = op.schema().name();
    if (isProduct(name)) {
        checkProduct(arguments[0].toTensor());
        takeWorkspace(arguments[0].toTensor().device());
    }
    if (!name.ends_with("_cell") && op.schema().argumentIndexWithName("has_biases"))
        checkStates(arguments[static_cast<std::size_t>(*op.schema().argumentIndexWithName("hx"))]);
}

}  // namespace hopscope::fake_device
