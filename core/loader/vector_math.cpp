#include "loader/vector_math.h"

#include <mutex>

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

namespace hopscope::loader {

namespace {

constexpr at::Tensor (*functions[])(const at::Tensor&) = {at::acos,   at::asin, at::atan, at::cos,  at::erf,   at::erfc,
                                                          at::erfinv, at::exp,  at::log,  at::log2, at::log10, at::sin,
                                                          at::sqrt,   at::tan,  at::tanh, at::trunc};

}  // namespace

void resolveVectorMath()
{
    static std::once_flag once;
    std::call_once(once, [] {
        const c10::InferenceMode inference;
        for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
            const at::Tensor number = at::full({1}, 0.5, type);
            for (const auto function : functions) function(number);
        }
    });
}

}  // namespace hopscope::loader
