#pragma once

#include <optional>
#include <string>

#include "base/tensor.h"

namespace hopscope::models {

struct Tolerance {
    double absolute = 1e-5, relative = 1e-4;  // |a - b| <= absolute + relative * |expected|, per element
};

struct Difference {
    double absolute = 0, relative = 0;     // the largest
    std::optional<std::string> complaint;  // the first element that differs, or shapes or dtypes that do; none: equal
};

// Element by element; NaN equals NaN, infinities equal themselves.
Difference compare(const base::TensorView& actual, const base::TensorView& expected, const Tolerance& tolerance);

// Element number `index` in row-major order, as a number; any strides, any dtype but complex.
double element(const base::TensorView& tensor, std::int64_t index);

}  // namespace hopscope::models
