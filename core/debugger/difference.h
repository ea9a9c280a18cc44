#pragma once

// Private to debugger: finds the rows in which two tensors differ, and the rows of a tensor that are not finite.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schema/report.h"

namespace hopscope::debugger {

struct DifferentRow {
    std::int64_t row = 0, element = 0;  // the element that differs most
    double first = 0, second = 0;
};

struct Difference {
    std::string mismatch;                     // the reason why the tensors cannot be compared; empty: they can
    std::int64_t rows = 0, of = 0;            // the number of rows that differ, and of all rows
    double maxAbsolute = 0, maxRelative = 0;  // over all elements
    std::vector<DifferentRow> shown;          // the first rows that differ

    [[nodiscard]] bool equal() const { return mismatch.empty() && rows == 0; }
};

inline constexpr std::size_t mostRowsShown = 20;

// Compares two tensors row by row along `rowDim` (-1: the tensor is one row), in pieces of constant memory.
// Floating-point numbers are equal within the tolerance, integers if they are the same; NaN equals NaN.
Difference differenceOf(const at::Tensor& first, const at::Tensor& second, int rowDim,
                        const schema::ToleranceRecord& tolerance);

// The numbers of a tensor that are not finite.
struct NonFinite {
    std::int64_t nan = 0, infinite = 0;
    std::vector<DifferentRow> shown;  // the first rows with such numbers, each with its first one

    [[nodiscard]] bool any() const { return nan + infinite > 0; }
};

NonFinite nonFinite(const at::Tensor& tensor, int rowDim);

}  // namespace hopscope::debugger
