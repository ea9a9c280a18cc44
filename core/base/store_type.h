#pragma once

#include <cstdint>

#include "base/names.h"
#include "base/tensor.h"

namespace hopscope::base {

// How values are stored between stages. Their own type is used for computing in any case.
enum class StoreType : std::uint8_t { Exact, Float32, BFloat16, Float16 };

constexpr auto namesOf(StoreType)
{
    return std::to_array<Named<StoreType>>({{StoreType::Exact, "exact"},
                                            {StoreType::Float32, "float32"},
                                            {StoreType::BFloat16, "bfloat16"},
                                            {StoreType::Float16, "float16"}});
}

// The type in which such a value is stored: integers and types that are no wider are unchanged.
DType storedAs(DType computed, StoreType store);

}  // namespace hopscope::base
