#pragma once

// Element by element: a tensor of the staged run against its reference. Streams over both; memory does not grow with them.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "verify/verify.h"

namespace hopscope::verify {

// Row `staged[i]` of one tensor is compared with row `reference[i]` of the other, rows counted along dimension `dim`.
struct RowPairs {
    int dim = 0;
    std::vector<std::int64_t> staged, reference;
};

// Why two tensors cannot be compared at all (rank, dtype, sizes; the row dimension of sampled ones may differ), if so.
std::optional<std::string> mismatch(const base::TensorView& staged, const base::TensorView& reference,
                                    int sampledDim = -1);

// Counts a tensor that cannot be compared as different.
void addDifference(TensorError& error);

// The tolerance for elements of a dtype: coarse floating types are compared as coarsely as they round.
Tolerance toleranceFor(const Tolerance& stated, base::DType dtype);

// Adds the comparison of all elements, or of the rows in `pairs`, to `error`. Floating elements are compared within the
// tolerance, NaN with NaN and infinity with the same infinity count as equal; integers and bools must be equal.
// maxRelative is over elements whose reference exceeds the absolute tolerance.
void compareAll(const base::TensorView& staged, const base::TensorView& reference, const Tolerance& tolerance,
                TensorError& error);
void compareRows(const base::TensorView& staged, const base::TensorView& reference, const RowPairs& pairs,
                 const Tolerance& tolerance, TensorError& error);

}  // namespace hopscope::verify
