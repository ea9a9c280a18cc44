#include "fake_device/operators.h"

#include <ATen/EmptyTensor.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/_local_scalar_dense_native.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_as_complex_native.h>
#include <ATen/ops/view_as_real_native.h>
#include <ATen/ops/view_native.h>
#include <torch/library.h>

#include "fake_device/allocator.h"
#include "fake_device/guard.h"
#include "fake_device/memory.h"

namespace hopscope::fake_device {

namespace {

using Size = at::IntArrayRef;
template <class T>
using Maybe = std::optional<T>;

constexpr c10::DispatchKeySet keys(c10::DispatchKey::PrivateUse1);

c10::Device placeOf(Maybe<at::Device> device)
{
    at::globalContext().lazyInitDevice(deviceType);
    return device && device->has_index() ? *device
                                         : c10::Device(deviceType, static_cast<c10::DeviceIndex>(currentDevice()));
}

at::Tensor emptyContiguous(Size size, Maybe<at::ScalarType> type, Maybe<at::Layout>, Maybe<at::Device> device,
                           Maybe<bool>, Maybe<at::MemoryFormat> format)
{
    const OwnGuard guard(placeOf(device));
    return at::detail::empty_generic(size, &allocator(), keys, c10::dtype_or_default(type), format);
}

at::Tensor emptyStrided(Size size, Size stride, Maybe<at::ScalarType> type, Maybe<at::Layout>, Maybe<at::Device> device,
                        Maybe<bool>)
{
    const OwnGuard guard(placeOf(device));
    return at::detail::empty_strided_generic(size, stride, &allocator(), keys, c10::dtype_or_default(type));
}

at::Tensor asStrided(const at::Tensor& self, Size size, Size stride, Maybe<std::int64_t> offset)
{
    return at::native::as_strided_tensorimpl(self, size, stride, offset);
}

at::Tensor view(const at::Tensor& self, Size size) { return at::native::view(self, size); }

at::Tensor reshapeAlias(const at::Tensor& self, Size size, Size stride)
{
    return at::native::_reshape_alias(self, size, stride);
}

at::Tensor unfold(const at::Tensor& self, std::int64_t dimension, std::int64_t size, std::int64_t step)
{
    return at::native::unfold(self, dimension, size, step);
}

at::Scalar localScalar(const at::Tensor& self)
{
    const Lock lock(mutex());
    const Mark mark = clocks().launch(laneOfTensor(self));
    touchTensor(self, mark, false);
    clocks().charge(mark.lane, Engine::DeviceToHost, static_cast<std::int64_t>(self.element_size()));
    ++state().counts.hostWaits;
    clocks().hostWaits(clocks().at(mark.lane));
    return at::native::_local_scalar_dense_cpu(hostView(self));
}

void recordStream(at::Tensor& self, c10::Stream stream) { allocator().recordStream(self.storage().data_ptr(), stream); }

at::Tensor& setStorage(at::Tensor& self, at::Storage source, std::int64_t offset, Size size, Size stride)
{
    self.unsafeGetTensorImpl()->set_storage_keep_dtype(std::move(source));
    if (stride.data()) self.unsafeGetTensorImpl()->set_sizes_and_strides(size, stride, offset);
    else self.unsafeGetTensorImpl()->set_sizes_contiguous(size);
    self.unsafeGetTensorImpl()->set_storage_offset(offset);
    return self;
}

at::Tensor& setWholeStorage(at::Tensor& self, at::Storage source)
{
    const auto elements = static_cast<std::int64_t>(source.nbytes() / self.element_size());
    return setStorage(self, std::move(source), 0, {elements}, {});
}

// CPU convolutions take what CUDA hands to cuDNN.
at::Tensor convolve(const at::Tensor& input, const at::Tensor& weight, const Maybe<at::Tensor>& bias, Size stride,
                    Size padding, Size dilation, bool transposed, Size outputPadding, std::int64_t groups)
{
    const Lock lock(mutex());
    const Mark mark = clocks().launch(laneOfTensor(input));
    const auto seen = [&](const at::Tensor& t) {
        TORCH_CHECK(t.device() == input.device(), "convolution: expected all tensors on the same device");
        touchTensor(t, mark, false);
        return hostView(t);
    };
    const Maybe<at::Tensor> added = bias && bias->defined() ? Maybe<at::Tensor>(seen(*bias)) : std::nullopt;
    const at::Tensor out =
        at::convolution(seen(input), seen(weight), added, stride, padding, dilation, transposed, outputPadding, groups);
    ++state().counts.operators;
    clocks().charge(mark.lane, Engine::Compute,
                    static_cast<std::int64_t>(input.nbytes() + weight.nbytes() + out.nbytes()));
    return toDevice(out, input.device(), mark);
}

}  // namespace

at::Tensor hostView(const at::Tensor& t)
{
    const at::TensorOptions options = t.options().device(at::kCPU);
    if (t.numel() == 0) return at::empty_strided(t.sizes(), t.strides(), options);
    at::Tensor view = at::from_blob(hostAddress(t.const_data_ptr()), t.sizes(), t.strides(), options);
    if (t.is_conj()) view._set_conj(true);
    return view;
}

int laneOfTensor(const at::Tensor& t) { return currentLane(t.device().index()); }

void touchTensor(const at::Tensor& t, Mark mark, bool write)
{
    if (t.numel() > 0) touch(blockAt(t.const_data_ptr()), mark, write);
}

at::Tensor toDevice(const at::Tensor& computed, c10::Device device, Mark mark)
{
    if (!computed.defined()) return computed;
    at::Tensor made = at::empty_strided(computed.sizes(), computed.strides(), computed.options().device(device));
    touchTensor(made, mark, true);
    if (computed.numel() > 0) hostView(made).copy_(computed);
    return made;
}

const at::Tensor& resizeTensor(const at::Tensor& t, Size size, Maybe<at::MemoryFormat>)
{
    const std::size_t wanted = static_cast<std::size_t>(c10::multiply_integers(size)) * t.element_size();
    if (wanted + static_cast<std::size_t>(t.storage_offset()) * t.element_size() > t.storage().nbytes()) {
        const at::Tensor made = at::empty(size, t.options());
        if (t.numel() > 0)
            made.view(-1).slice(0, 0, std::min(t.numel(), made.numel())).copy_(t.reshape(-1).slice(0, 0, made.numel()));
        t.unsafeGetTensorImpl()->set_storage_keep_dtype(made.storage());
        t.unsafeGetTensorImpl()->set_storage_offset(0);
    }
    t.unsafeGetTensorImpl()->set_sizes_contiguous(size);
    return t;
}

void registerOperators()
{
    static torch::Library library(torch::Library::IMPL, "aten", c10::DispatchKey::PrivateUse1, __FILE__, __LINE__);
    library.impl("empty.memory_format", &emptyContiguous);
    library.impl("empty_strided", &emptyStrided);
    library.impl("as_strided", &asStrided);
    library.impl("view", &view);
    library.impl("_reshape_alias", &reshapeAlias);
    library.impl("unfold", &unfold);
    library.impl("view_as_complex", &at::native::view_as_complex);
    library.impl("view_as_real", &at::native::view_as_real);
    library.impl("_copy_from", &copyTensor);
    library.impl("_local_scalar_dense", &localScalar);
    library.impl("record_stream", &recordStream);
    library.impl("resize_", &resizeTensor);
    library.impl("set_.source_Storage", &setWholeStorage);
    library.impl("set_.source_Storage_storage_offset", &setStorage);
    library.impl("convolution_overrideable", &convolve);
    // Copies resolve the conjugation of their operands themselves: LibTorch would copy them first, without end.
    static torch::Library conjugate(torch::Library::IMPL, "aten", c10::DispatchKey::Conjugate, __FILE__, __LINE__);
    conjugate.impl("_copy_from", torch::CppFunction::makeFallthrough());
}

}  // namespace hopscope::fake_device
