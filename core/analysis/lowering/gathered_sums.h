#pragma once

// Private to analysis: values as sums of gathered rows.

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/program.h"

namespace hopscope::analysis {

// Reads rows of a table: the operator, the row numbers, and the dimension of the rows, counted from the front.
struct RowGather {
    const ir::Op* op = nullptr;
    ir::ValueId index;
    std::int64_t dim = 0;
    bool operator==(const RowGather& other) const { return index == other.index && dim == other.dim; }
};

// The operator as a gather of rows of its first operand, which has other dimensions behind that of the rows; none for
// other operators.
std::optional<RowGather> rowGather(const ir::Program& program, const ir::Op& op);

// A summand: gathered rows of a table, or the rows of a value as they are.
struct Summand {
    std::optional<RowGather> gather;
    ir::ValueId table;
    bool negative = false;
};

// Some columns (elements of the last dimension) of a value, as a sum.
struct SummedColumns {
    std::int64_t width = 0;
    std::vector<Summand> summands;
    std::optional<ir::ValueId> whole;  // a value that consists of these columns
};

// A value as columns side by side.
struct GatheredSum {
    std::vector<SummedColumns> columns;
    bool multiplied = false;  // the tables are products that were moved

    [[nodiscard]] bool single() const { return columns.size() == 1; }
};

// True for an operator on the dimensions behind the rows, in the same way for all rows, that can be applied to each table
// instead. It keeps columns apart unless there is only one group of them. Its first operand is the value. If nothing is
// gathered, this includes elementwise operators that treat all columns alike.
bool keepsRows(const ir::Program& program, const ir::Op& op, const GatheredSum& value);

// Returns that operator for a table with `width` columns of the value, with the shape of its result.
struct Applied {
    ir::Op op;
    ir::Value result;
};
Applied appliedTo(const ir::Program& program, const ir::Op& op, const Summand& summand, std::int64_t width);

}  // namespace hopscope::analysis
