#pragma once

// Compares a tensor of the staged run with its reference, element by element, in constant memory.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "verify/verify.h"

namespace hopscope::verify {

// Row staged[i] of the one tensor is compared with row reference[i] of the other, in dimension `dim`.
struct RowPairs {
    int dim = 0;
    std::vector<std::int64_t> staged, reference;
};

// The reason why two tensors cannot be compared (different rank, dtype or sizes); nullopt if they can. Sizes may differ
// in dimension `sampledDim`.
std::optional<std::string> mismatch(const base::TensorView& staged, const base::TensorView& reference,
                                    int sampledDim = -1);

// "float32 [2708, 7]".
std::string formText(const base::TensorView& view);

// True if no element is infinite or NaN.
bool isFinite(const base::TensorView& view);

// The largest finite magnitude; 0 of integers.
double largestIn(const base::TensorView& view);

// Records a tensor that cannot be compared as a difference.
void addDifference(TensorError& error);

// The stated tolerance, widened where the model itself computes differences of prefix sums: these carry the rounding of
// all rows before them.
Tolerance toleranceOf(const analysis::Analysis& analysis);

// The tolerance for a dtype: the stated one, widened for float16 and bfloat16 by the ratio of their rounding to
// float32's.
Tolerance toleranceFor(const Tolerance& stated, base::DType dtype);

// The first element that differs, by its number in row-major order, and both numbers: the parts of a complex one.
struct FirstDifference {
    std::int64_t element = 0;
    double staged = 0, reference = 0;
};

// Compares all elements, or the rows in `pairs`, and adds the result to `error`. Floating-point elements are equal
// within the tolerance; NaN equals NaN, and an infinity the same infinity. Integers and bools must be identical.
// maxRelative covers elements whose reference exceeds the absolute tolerance.
void compareAll(const base::TensorView& staged, const base::TensorView& reference, const Tolerance& tolerance,
                TensorError& error, std::optional<FirstDifference>* first = nullptr);
void compareRows(const base::TensorView& staged, const base::TensorView& reference, const RowPairs& pairs,
                 const Tolerance& tolerance, TensorError& error);

}  // namespace hopscope::verify
