#include "graph/safetensors_dtype.h"

#include <array>
#include <string_view>
#include <utility>

namespace hopscope::graph {

namespace {

using base::DType;

constexpr std::array<std::pair<const char*, DType>, 14> kCodes{{{"BOOL", DType::Bool},
                                                                {"U8", DType::UInt8},
                                                                {"I8", DType::Int8},
                                                                {"I16", DType::Int16},
                                                                {"U16", DType::UInt16},
                                                                {"I32", DType::Int32},
                                                                {"U32", DType::UInt32},
                                                                {"I64", DType::Int64},
                                                                {"U64", DType::UInt64},
                                                                {"F16", DType::Float16},
                                                                {"BF16", DType::BFloat16},
                                                                {"F32", DType::Float32},
                                                                {"F64", DType::Float64},
                                                                {"C64", DType::Complex64}}};

}  // namespace

std::optional<DType> safetensorsDType(const std::string& code)
{
    for (const auto& [text, dtype] : kCodes)
        if (code == text) return dtype;
    return std::nullopt;
}

const char* safetensorsCode(DType dtype)
{
    for (const auto& [text, known] : kCodes)
        if (dtype == known) return text;
    return nullptr;
}

}  // namespace hopscope::graph
