#pragma once

// Represents tensors as plain data: dtype, shape, strides, and bytes that another object owns. Mapped files, the loader
// and the executor exchange tensors in this form, which contains no type of any library.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/names.h"

namespace hopscope::base {

enum class DType : std::uint8_t {
    Bool,
    UInt8,
    Int8,
    Int16,
    UInt16,
    Int32,
    UInt32,
    Int64,
    UInt64,
    Float16,
    BFloat16,
    Float32,
    Float64,
    Complex64,
    Complex128,
};

// Returns the names that torch uses, in the order of the enumeration.
constexpr auto namesOf(DType)
{
    return std::to_array<Named<DType>>({{DType::Bool, "bool"},
                                        {DType::UInt8, "uint8"},
                                        {DType::Int8, "int8"},
                                        {DType::Int16, "int16"},
                                        {DType::UInt16, "uint16"},
                                        {DType::Int32, "int32"},
                                        {DType::UInt32, "uint32"},
                                        {DType::Int64, "int64"},
                                        {DType::UInt64, "uint64"},
                                        {DType::Float16, "float16"},
                                        {DType::BFloat16, "bfloat16"},
                                        {DType::Float32, "float32"},
                                        {DType::Float64, "float64"},
                                        {DType::Complex64, "complex64"},
                                        {DType::Complex128, "complex128"}});
}

std::size_t itemSize(DType dtype);  // bytes of one element
inline const char* dtypeName(DType dtype) { return nameOf(dtype); }
bool isFloating(DType dtype);  // float16..float64 (complex is not)
bool isIntegral(DType dtype);  // integers; bool is not

// A read-only strided view. `strides` count elements, not bytes. `owner` keeps the bytes mapped or allocated for as
// long as any copy of the view lives.
struct TensorView {
    DType dtype = DType::Float32;
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> strides;
    const std::byte* data = nullptr;
    std::shared_ptr<const void> owner;
    std::string origin;  // FILE, FILE:KEY, or the name of a stored value

    [[nodiscard]] std::int64_t elements() const;
    [[nodiscard]] std::int64_t bytes() const { return elements() * static_cast<std::int64_t>(itemSize(dtype)); }
    [[nodiscard]] bool contiguous() const;  // C order without gaps
};

// Returns the row-major strides of a shape, in elements.
std::vector<std::int64_t> contiguousStrides(const std::vector<std::int64_t>& shape);

// A zero-filled tensor in C order that owns its bytes. `bytes` may be written to until the view is shared.
struct OwnedTensor {
    TensorView view;
    std::byte* bytes = nullptr;
};
OwnedTensor allocate(DType dtype, std::vector<std::int64_t> shape);

// Tensors by the data keys of the command line, for example "x", "edge_index", "xs.user" and "adjs.0". The map is
// ordered, so that every iteration over the inputs is deterministic.
using TensorMap = std::map<std::string, TensorView>;

}  // namespace hopscope::base
