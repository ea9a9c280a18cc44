#pragma once

#include <cstdint>

#include "base/names.h"
#include "base/tensor.h"

namespace hopscope::base {

// The type in which values are stored between stages. It does not affect the type in which they are computed.
enum class StoreType : std::uint8_t { Exact, Float32, BFloat16, Float16 };

constexpr auto namesOf(StoreType)
{
    return std::to_array<Named<StoreType>>({{StoreType::Exact, "exact"},
                                            {StoreType::Float32, "float32"},
                                            {StoreType::BFloat16, "bfloat16"},
                                            {StoreType::Float16, "float16"}});
}

// Returns the type in which a value of type `computed` is stored. Only floating-point
// types that are wider than `store` change.
DType storedAs(DType computed, StoreType store);

}  // namespace hopscope::base
