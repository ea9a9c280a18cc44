// Every operator without a kernel of its own: on the CPU, on the same bytes. Tensors of another device are refused as
// CUDA refuses them.

#include <set>
#include <string>

#include <ATen/Context.h>
#include <torch/library.h>

#include "fake_device/demands.h"
#include "fake_device/guard.h"
#include "fake_device/memory.h"
#include "fake_device/operators.h"
#include "loader/one_thread.h"

namespace hopscope::fake_device {

namespace {

using torch::jit::IValue;

// Those whose result's size is data: CUDA's kernels wait for it.
bool waitsForSize(const std::string& name)
{
    static const std::set<std::string> names{"aten::nonzero",
                                             "aten::masked_select",
                                             "aten::_unique",
                                             "aten::_unique2",
                                             "aten::unique_dim",
                                             "aten::unique_consecutive",
                                             "aten::unique_dim_consecutive",
                                             "aten::bincount",
                                             "aten::repeat_interleave",
                                             "aten::equal",
                                             "aten::nonzero_numpy"};
    return names.contains(name);
}

// Those that add or write rows by number: in no certain order, or, if results have to be the same every time, after
// sorting the numbers.
bool sortsNumbers(const std::string& name)
{
    static const std::set<std::string> names{"aten::index_add",  "aten::index_add_",       "aten::index_put",
                                             "aten::index_put_", "aten::_index_put_impl_", "aten::index_copy",
                                             "aten::index_copy_"};
    return at::globalContext().deterministicAlgorithms() && names.contains(name);
}

bool isMask(const std::optional<at::Tensor>& t)
{
    return t && t->defined() && (t->scalar_type() == at::kBool || t->scalar_type() == at::kByte);
}

// Without repetitions of rows or elements.
std::int64_t distinctBytes(const at::Tensor& t)
{
    auto bytes = static_cast<std::int64_t>(t.element_size());
    for (std::int64_t d = 0; d < t.dim(); ++d)
        if (t.stride(d) != 0 || t.size(d) == 0) bytes *= t.size(d);
    return bytes;
}

// Calls `see` with every tensor in a value.
template <class See>
void forEachTensor(const IValue& value, const See& see)
{
    if (value.isTensor()) see(value.toTensor());
    else if (value.isTensorList())
        for (const at::Tensor& t : value.toTensorVector()) see(t);
    else if (value.isOptionalTensorList())
        for (const auto& t : value.toOptionalTensorVector())
            if (t) see(*t);
}

// The value with every tensor in it replaced.
template <class Change>
IValue mapTensors(const IValue& value, const Change& change)
{
    if (value.isTensor()) return change(value.toTensor());
    if (value.isTensorList()) {
        c10::List<at::Tensor> list;
        for (const at::Tensor& t : value.toTensorVector()) list.push_back(change(t));
        return list;
    }
    if (!value.isOptionalTensorList()) return value;
    c10::List<std::optional<at::Tensor>> list;
    for (const auto& t : value.toOptionalTensorVector()) list.push_back(t ? std::optional(change(*t)) : std::nullopt);
    return list;
}

class CpuCall final {
public:
    CpuCall(const c10::OperatorHandle& op, torch::jit::Stack& stack)
        : m_op(op),
          m_stack(stack),
          m_arguments(op.schema().arguments().size()),
          m_first(stack.size() - m_arguments)
    {}

    void run()
    {
        for (std::size_t i = 0; i < m_arguments; ++i) findDevice(m_stack[m_first + i]);
        TORCH_CHECK(m_device, "fake device: no device tensor in ", m_op.schema().name());
        checkDemands(m_op, std::span(m_stack).subspan(m_first));
        m_mark = clocks().launch(currentLane(m_device->index()));
        m_work.operations = operationsOf(m_op, std::span(m_stack).subspan(m_first));
        for (std::size_t i = 0; i < m_arguments; ++i) replaceArgument(i);
        computeAlone();
        for (const Written& written : m_written) bringBack(written);
        replaceResults();
        ++state().counts.operators;
        state().counts.sorts += sortsNumbers(m_op.schema().name()) ? 1 : 0;
        clocks().charge(m_mark.lane, m_work);
        if (m_waits || waitsForSize(m_op.schema().name())) waitForResult();
    }

private:
    // An argument that the operator writes to, and what it wrote to in its place.
    struct Written {
        at::Tensor onDevice, onHost;
    };

    // The sums of a GPU do not depend on the cores of the host.
    void computeAlone()
    {
        const loader::OneThread alone;
        m_op.callBoxed(m_stack);
    }

    void findDevice(const IValue& value)
    {
        if (value.isDevice() && value.toDevice().type() == deviceType && !m_device) m_device = value.toDevice();
        if (value.isOptionalTensorList())
            for (const auto& t : value.toOptionalTensorVector()) m_waits |= isMask(t);
        forEachTensor(value, [&](const at::Tensor& t) { see(t); });
    }

    void see(const at::Tensor& t)
    {
        if (!t.defined()) return;
        if (t.device().type() != deviceType) m_onHost |= t.dim() > 0;
        else if (m_device && m_device->has_index() && *m_device != t.device()) refuseMixed(t.device());
        else m_device = t.device();
        if (m_onHost && m_device) refuseMixed(at::kCPU);
    }

    [[noreturn]] void refuseMixed(c10::Device other) const
    {
        refuse(m_op.schema().name() +
               ": expected all tensors to be on the same device, but found at least two devices, " +
               "cuda:" + std::to_string(m_device->index()) + " and " +
               (other.is_cpu() ? "cpu" : "cuda:" + std::to_string(other.index())));
    }

    [[nodiscard]] bool writes(std::size_t argument) const
    {
        const auto* alias = m_op.schema().arguments()[argument].alias_info();
        return alias && alias->isWrite();
    }

    void replaceArgument(std::size_t i)
    {
        IValue& value = m_stack[m_first + i];
        const bool write = writes(i);
        if (value.isDevice()) value = c10::Device(at::kCPU);
        else value = mapTensors(value, [&](const at::Tensor& t) { return onHost(t, write); });
    }

    at::Tensor onHost(const at::Tensor& t, bool write)
    {
        if (!t.defined() || t.is_cpu()) return t;
        touchTensor(t, m_mark, write);
        m_work.bytes += distinctBytes(t);
        // An empty one may grow, which a view of other memory cannot.
        at::Tensor view = write && t.numel() == 0 ? at::empty(t.sizes(), t.options().device(at::kCPU)) : hostView(t);
        if (write) m_written.push_back({t, view});
        return view;
    }

    void bringBack(const Written& written)
    {
        const at::Tensor &there = written.onDevice, &here = written.onHost;
        if (there.sizes() == here.sizes()) return;
        resizeTensor(there, here.sizes(), {});
        touchTensor(there, m_mark, true);
        if (here.numel() > 0) hostView(there).copy_(here);
    }

    void replaceResults()
    {
        const auto& returns = m_op.schema().returns();
        const std::size_t first = m_stack.size() - returns.size();
        for (std::size_t i = 0; i < returns.size(); ++i) {
            const auto* alias = returns[i].alias_info();
            if (alias && !alias->isWrite()) refuse("no kernel for the view " + m_op.schema().name());
            m_stack[first + i] = mapTensors(m_stack[first + i], [&](const at::Tensor& t) { return result(t); });
        }
    }

    at::Tensor result(const at::Tensor& computed)
    {
        for (const Written& written : m_written)
            if (written.onHost.is_same(computed)) return written.onDevice;
        if (computed.defined()) m_work.bytes += distinctBytes(computed);
        return toDevice(computed, *m_device, m_mark);
    }

    void waitForResult()
    {
        ++state().counts.hostWaits;
        clocks().hostWaits(clocks().at(m_mark.lane));
    }

    const c10::OperatorHandle& m_op;
    torch::jit::Stack& m_stack;
    std::size_t m_arguments, m_first;
    std::optional<c10::Device> m_device;
    std::vector<Written> m_written;
    Work m_work;
    bool m_onHost = false, m_waits = false;
    Mark m_mark;
};

void fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack)
{
    const Lock lock(mutex());
    CpuCall(op, *stack).run();
}

}  // namespace

void registerFallback()
{
    static torch::Library library(torch::Library::IMPL, "_", c10::DispatchKey::PrivateUse1, __FILE__, __LINE__);
    library.fallback(torch::CppFunction::makeFromBoxedFunction<&fallback>());
    // What LibTorch would put together from other operators, which rounds differently, has a kernel on the CPU and CUDA.
    static torch::Library kernels(torch::Library::IMPL, "aten", c10::DispatchKey::PrivateUse1, __FILE__, __LINE__);
    const auto onTheCpu = [&](const char* name) {
        kernels.impl(name, torch::CppFunction::makeFromBoxedFunction<&fallback>());
    };
    for (const char* name : {"native_layer_norm", "native_group_norm"}) onTheCpu(name);
    for (const char* name : recurrentOperators()) onTheCpu(name);
}

}  // namespace hopscope::fake_device
