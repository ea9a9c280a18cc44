#include "base/store_type.h"

#include <array>
#include <cstdlib>
#include <new>

namespace hopscope::base {

namespace {

// In the order of the enumeration.
constexpr std::array<std::size_t, 15> itemSizes{1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8, 8, 16};

}  // namespace

DType storedAs(DType computed, StoreType store)
{
    DType narrow = computed;
    if (store == StoreType::Float32) narrow = DType::Float32;
    else if (store == StoreType::BFloat16) narrow = DType::BFloat16;
    else if (store == StoreType::Float16) narrow = DType::Float16;
    return isFloating(computed) && itemSize(narrow) < itemSize(computed) ? narrow : computed;
}

std::size_t itemSize(DType dtype) { return itemSizes[static_cast<std::size_t>(dtype)]; }
bool isFloating(DType dtype) { return dtype >= DType::Float16 && dtype <= DType::Float64; }
bool isIntegral(DType dtype) { return dtype >= DType::UInt8 && dtype <= DType::UInt64; }

std::int64_t TensorView::elements() const
{
    std::int64_t count = 1;
    for (const std::int64_t size : shape) count *= size;
    return count;
}

bool TensorView::contiguous() const
{
    if (elements() == 0) return true;
    std::int64_t expected = 1;
    for (std::size_t i = shape.size(); i-- > 0;) {
        if (shape[i] != 1 && strides[i] != expected) return false;
        expected *= shape[i];
    }
    return true;
}

std::vector<std::int64_t> contiguousStrides(const std::vector<std::int64_t>& shape)
{
    std::vector<std::int64_t> strides(shape.size(), 1);
    for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * (shape[i] > 0 ? shape[i] : 1);
    return strides;
}

OwnedTensor allocate(DType dtype, std::vector<std::int64_t> shape)
{
    OwnedTensor tensor;
    tensor.view.dtype = dtype;
    tensor.view.strides = contiguousStrides(shape);
    tensor.view.shape = std::move(shape);
    const auto bytes = static_cast<std::size_t>(tensor.view.bytes());
    // calloc: large blocks come from the kernel already zero, untouched pages cost nothing.
    void* memory = std::calloc(bytes > 0 ? bytes : 1, 1);
    if (memory == nullptr) throw std::bad_alloc();
    std::shared_ptr<void> owner(memory, std::free);
    tensor.bytes = static_cast<std::byte*>(memory);
    tensor.view.data = tensor.bytes;
    tensor.view.owner = std::move(owner);
    return tensor;
}

}  // namespace hopscope::base
