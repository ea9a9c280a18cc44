#pragma once

// The kinds of values that are not computed during the walk: forward's arguments, the model's attributes, and literals
// in the code.

#include <string>

#include "loader/walk/recorder.h"
#include "loader/walk/sparse_matrices.h"
#include "loader/walk/walk_item.h"

namespace hopscope::loader {

enum class Leaf { Attribute, Literal, Input };

// Turns LibTorch's values into items and records their tensors: attributes as parameters, literals as constants,
// arguments as inputs.
class ValueWrapper {
public:
    ValueWrapper(Recorder& recorder, SparseMatrices& sparse) : m_recorder(recorder), m_sparse(sparse) {}

    // `path` names the value ("convs.0.weight", "x_dict"); elements of containers add ".0" or ".KEY".
    Item wrap(const c10::IValue& value, const std::string& path, Leaf leaf);
    Item literal(const c10::IValue& value) { return wrap(value, "", Leaf::Literal); }
    std::vector<Item> literals(const std::vector<c10::IValue>& values);

private:
    Item wrapLeaf(const c10::IValue& value, const std::string& path, Leaf leaf);

    Recorder& m_recorder;
    SparseMatrices& m_sparse;
};

}  // namespace hopscope::loader
