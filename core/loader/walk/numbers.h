#pragma once

// Python numbers during the walk. A number that follows from constants is just its value. One that derives from inputs
// is also a value of the program: arithmetic on it is recorded as scalar operators, and where the walk depends on it (a
// branch, an index) a guard pins it.

#include <map>
#include <utility>
#include <vector>

#include "loader/walk/operator_calls.h"
#include "loader/walk/sparse_matrices.h"

namespace hopscope::loader {

class Numbers {
public:
    Numbers(Recorder& recorder, const Location& location, const OperatorCalls& calls, const SparseMatrices& sparse)
        : m_recorder(recorder),
          m_location(location),
          m_calls(calls),
          m_sparse(sparse)
    {}

    // If the number derives from inputs, records a guard: the program is valid only where it has this value. The other
    // two also return the value.
    void guard(const Item& number);
    std::int64_t fixedInt(const Item& number);
    bool fixedBool(const Item& number);

    // The result of the scalar operator `name`; recorded if one of the arguments derives from inputs.
    Item scalar(const char* name, const std::vector<Item>& args, const c10::IValue& result);
    // Computes add, sub, mul, min, max, eq or and ("scalar::add"), recorded likewise. Refuses items that are not
    // numbers.
    Item arithmetic(const char* name, const Item& a, const Item& b);

    // tensor.size(dim), recorded once for each tensor and dimension; dim may be negative.
    Item sizeOf(const Item& tensor, std::int64_t dim);
    // The element of a one-element tensor, whose value is `result`; if a number was converted to the tensor, that
    // number.
    Item elementOf(const Item& tensor, const c10::IValue& result);
    // The 0-dimensional tensor `result`, made from a number.
    Item tensorOf(const Item& number, const at::Tensor& result);

private:
    Recorder& m_recorder;
    const Location& m_location;
    const OperatorCalls& m_calls;
    const SparseMatrices& m_sparse;
    std::map<std::pair<ir::ValueId, std::int64_t>, Item> m_sizes;  // by tensor and dimension
    std::map<ir::ValueId, Item> m_madeFrom;  // the numbers that 0-dimensional tensors were made from
};

}  // namespace hopscope::loader
