#include "loader/torch_model.h"

#include <utility>

namespace hopscope::loader {

namespace {

using base::DType;

constexpr std::pair<DType, at::ScalarType> kTypes[] = {
    {DType::Bool, at::kBool},
    {DType::UInt8, at::kByte},
    {DType::Int8, at::kChar},
    {DType::Int16, at::kShort},
    {DType::UInt16, at::kUInt16},
    {DType::Int32, at::kInt},
    {DType::UInt32, at::kUInt32},
    {DType::Int64, at::kLong},
    {DType::UInt64, at::kUInt64},
    {DType::Float16, at::kHalf},
    {DType::BFloat16, at::kBFloat16},
    {DType::Float32, at::kFloat},
    {DType::Float64, at::kDouble},
    {DType::Complex64, at::kComplexFloat},
    {DType::Complex128, at::kComplexDouble},
};

base::Status flatten(const c10::IValue& value, const std::string& name,
                     std::vector<std::pair<std::string, at::Tensor>>& out)
{
    if (value.isTensor()) out.emplace_back(name, value.toTensor());
    else if (value.isScalar()) out.emplace_back(name, at::scalar_tensor(value.toScalar(), scalarOptions(value)));
    else if (value.isTuple() || value.isList()) {
        const auto items = value.isTuple() ? value.toTupleRef().elements().vec() : value.toListRef().vec();
        for (std::size_t i = 0; i < items.size(); ++i)
            if (auto ok = flatten(items[i], name + "." + std::to_string(i), out); !ok) return ok;
    } else if (value.isGenericDict()) {
        for (const auto& entry : value.toGenericDict())
            if (auto ok = flatten(entry.value(), name + "." + keyText(entry.key()), out); !ok) return ok;
    } else if (!value.isNone()) {
        return base::fail(base::ErrorCode::Unsupported,
                          "forward returns " + value.tagKind() + ", which is neither a tensor nor a number",
                          "return tensors, numbers, and tuples, lists or dictionaries of them", name);
    }
    return {};
}

}  // namespace

at::TensorOptions scalarOptions(const c10::IValue& number)
{
    if (number.isBool()) return at::TensorOptions(at::kBool);
    return at::TensorOptions(number.isInt() ? at::kLong : at::kDouble);
}

std::string keyText(const c10::IValue& key)
{
    if (key.isString()) return key.toStringRef();
    if (key.isInt()) return std::to_string(key.toInt());
    return c10::str(key);
}

at::ScalarType scalarType(DType dtype)
{
    for (const auto& [ours, theirs] : kTypes)
        if (ours == dtype) return theirs;
    return at::kFloat;
}

base::Result<DType> dtypeOf(at::ScalarType type)
{
    for (const auto& [ours, theirs] : kTypes)
        if (theirs == type) return ours;
    return base::fail(base::ErrorCode::Unsupported,
                      std::string("tensors of type ") + c10::toString(type) + " are not supported",
                      "use bool, integers, float16, bfloat16, float32, float64, complex64 or complex128");
}

at::Tensor toTensor(const base::TensorView& view)
{
    const auto options = at::TensorOptions(scalarType(view.dtype));
    if (view.elements() == 0) return at::empty(view.shape, options);
    // LibTorch has no read-only tensors; nothing here writes into inputs that it has not copied.
    void* data = const_cast<std::byte*>(view.data);
    return at::from_blob(
        data, view.shape, view.strides, [owner = view.owner](void*) {}, options);
}

base::TensorView toView(const at::Tensor& tensor)
{
    base::TensorView view;
    view.dtype = dtypeOf(tensor.scalar_type()).value_or(DType::Float32);
    view.shape = tensor.sizes().vec();
    view.strides = tensor.strides().vec();
    view.data = static_cast<const std::byte*>(tensor.const_data_ptr());
    view.owner = std::make_shared<const at::Tensor>(tensor);
    return view;
}

base::Result<std::vector<std::pair<std::string, at::Tensor>>> flattenOutputs(const c10::IValue& result)
{
    std::vector<std::pair<std::string, at::Tensor>> out;
    if (auto ok = flatten(result, "out", out); !ok) return base::forward(ok);
    return out;
}

}  // namespace hopscope::loader
