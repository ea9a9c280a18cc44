#pragma once

// Handles Python numbers during the walk. A number that follows from constants is only a value. One that derives from
// inputs is also a value of the program: arithmetic on it is recorded as scalar operators, and where the walk depends
// on it (a branch, an index) a guard pins it.

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

    // Record a guard if the number derives from inputs: the program is only valid where the number has this value.
    // fixedInt() and fixedBool() also return the value.
    void guard(const Item& number);
    std::int64_t fixedInt(const Item& number);
    bool fixedBool(const Item& number);

    // Returns the result of the scalar operator `name`, and records the operator if an argument derives from inputs.
    Item scalar(const char* name, const std::vector<Item>& args, const c10::IValue& result);
    // Computes add, sub, mul, min, max, eq or and ("scalar::add"), and records the operator in the same case. Refuses
    // items that are not numbers.
    Item arithmetic(const char* name, const Item& a, const Item& b);

    // Returns tensor.size(dim), which is recorded once for each tensor and dimension; dim may be negative.
    Item sizeOf(const Item& tensor, std::int64_t dim);
    // Returns the element of a one-element tensor, which has the value `result`. If the tensor was made from a number,
    // returns that number.
    Item elementOf(const Item& tensor, const c10::IValue& result);
    // Returns the 0-dimensional tensor `result`, which is made from a number.
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
