#pragma once

// Sparse matrices among forward's arguments: each is recorded as its parts, which become inputs of the program, and as
// an operator that makes the matrix from them (names: walk() in loader.h).

#include <map>
#include <string>

#include "loader/walk/operator_calls.h"

namespace hopscope::loader {

class SparseInputs {
public:
    SparseInputs(Recorder& recorder, const Location& location, OperatorCalls& calls)
        : m_recorder(recorder),
          m_location(location),
          m_calls(calls)
    {}

    // Records a COO or CSR matrix as the inputs "PATH.coo_indices" etc. and returns the matrix. Refuses other layouts.
    Item add(const at::Tensor& matrix, const std::string& path);

    // The input that the operator `name` ("aten::values") returns for a matrix; nullptr for other items and operators.
    [[nodiscard]] const Item* part(const std::string& name, const Item& item) const;
    // The number of rows (0) or columns (1) of a matrix; nullptr for other values.
    [[nodiscard]] const Item* size(ir::ValueId matrix, std::int64_t dim) const;

private:
    struct Parts {
        Item indices, crow, col, values, sizes[2];
    };

    Recorder& m_recorder;
    const Location& m_location;
    OperatorCalls& m_calls;
    std::map<ir::ValueId, Parts> m_parts;  // by matrix
};

}  // namespace hopscope::loader
