#pragma once

// Compares tensors with their references, element by element, in constant memory.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "verify/verify.h"

namespace hopscope::verify {

// Pairs of rows to compare: row staged[i] of the staged run's tensor with row reference[i] of the reference, in
// dimension `dim`.
struct RowPairs {
    int dim = 0;
    std::vector<std::int64_t> staged, reference;
};

// Returns the reason why two tensors cannot be compared (different rank, dtype or sizes); nullopt if they can. Their
// sizes may differ in dimension `sampledDim`.
std::optional<std::string> mismatch(const base::TensorView& staged, const base::TensorView& reference,
                                    int sampledDim = -1);

// Returns the dtype and shape of a tensor: "float32 [2708, 7]".
std::string formText(const base::TensorView& view);

// Whether no element is infinite or NaN.
bool isFinite(const base::TensorView& view);

// Returns the largest magnitude of a finite element, or of a finite part of a complex one; 0 for integers and bools.
double largestIn(const base::TensorView& view);

// Records that a tensor cannot be compared, which counts as a difference.
void addDifference(TensorError& error);

// Returns the default tolerance, widened if the model itself computes differences of prefix sums, which contain the
// rounding errors of all rows before them.
Tolerance toleranceOf(const analysis::Analysis& analysis);

// Returns the tolerance for a dtype: the stated one, widened for float16 and bfloat16 by the ratio of their rounding to
// that of float32. `relative` and `scale` are at most 5 %.
Tolerance toleranceFor(const Tolerance& stated, base::DType dtype);

// The first element that differs, by its index in row-major order, and both numbers. For complex elements, these are
// the real or imaginary parts that differ.
struct FirstDifference {
    std::int64_t element = 0;
    double staged = 0, reference = 0;
};

// Compare all elements, or the rows in `pairs`, and add the result to `error`. Floating-point elements are equal within
// the tolerance; NaN equals NaN, and an infinity equals the same infinity. Integers and bools must be identical.
// maxRelative covers only finite floating-point elements whose reference is not within the absolute tolerance of 0.
void compareAll(const base::TensorView& staged, const base::TensorView& reference, const Tolerance& tolerance,
                TensorError& error, std::optional<FirstDifference>* first = nullptr);
void compareRows(const base::TensorView& staged, const base::TensorView& reference, const RowPairs& pairs,
                 const Tolerance& tolerance, TensorError& error);

}  // namespace hopscope::verify
