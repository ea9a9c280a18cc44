#pragma once

// Records sparse matrices. Those among forward's arguments are recorded as their parts, which become inputs of the
// program, and as an operator that makes the matrix from these parts (walk() in loader.h lists the names). The parts of
// matrices that forward creates are known as well. In the program, matrices of any layout are COO matrices.

#include <map>
#include <string>

#include "loader/walk/operator_calls.h"

namespace hopscope::loader {

class SparseMatrices {
public:
    SparseMatrices(Recorder& recorder, const Location& location, OperatorCalls& calls)
        : m_recorder(recorder),
          m_location(location),
          m_calls(calls)
    {}

    // Records a COO or CSR matrix as the inputs "PATH.coo_indices" etc. and returns the matrix. Refuses other layouts.
    Item add(const at::Tensor& matrix, const std::string& path);

    struct Parts {
        Item indices, crow, col, values, sizes[2];
    };

    // Records a matrix that forward makes of compressed rows and returns it.
    Item compressed(Parts parts);
    // Remembers the parts of a recorded matrix that forward makes of COO indices.
    void know(ir::ValueId matrix, Parts parts) { m_parts[matrix] = std::move(parts); }
    // Remembers that `matrix` has the entries of `other`, with duplicates merged.
    void merged(ir::ValueId matrix, ir::ValueId other);

    // Returns sum(matrix), sum(matrix, dim) or torch.sparse.sum, recorded as operators on the entries; nullopt for all
    // other operators and items. LibTorch returns a sparse vector for a dim; the program has a dense one, which
    // to_dense leaves as it is.
    std::optional<Item> sum(const torch::jit::Node& node, const std::vector<Item>& args);

    // Returns the result of the operator `name` ("aten::values") on a matrix; nullptr for other items and operators.
    [[nodiscard]] const Item* part(const std::string& name, const Item& item) const;
    // Returns the number of rows (0) or columns (1) of a matrix; nullptr for other values.
    [[nodiscard]] const Item* size(ir::ValueId matrix, std::int64_t dim) const;

private:
    Item sumAlong(const Parts& entries, const Item& values, std::int64_t dim);
    // Records the matrix as an operator on its parts; `concrete` is its value on the sample.
    Item record(Parts parts, const at::Tensor& concrete);

    Recorder& m_recorder;
    const Location& m_location;
    OperatorCalls& m_calls;
    std::map<ir::ValueId, Parts> m_parts;         // by matrix
    std::map<ir::ValueId, ir::ValueId> m_merged;  // by matrix, the one whose entries were merged
};

}  // namespace hopscope::loader
