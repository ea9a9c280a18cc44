#pragma once

// Decides which operators are drawn as one node, and how nodes are labelled. The functions are pure and depend only on
// the model.

#include <QString>
#include <cstddef>
#include <span>

#include "protocol/model.h"

namespace hopscope::graphview {

// Maps every operator to the one whose node shows it: itself or, for operators that add nothing to the picture
// (reshapes, casts, a bias, a factor from the prologue), the operator whose result they modify. Takes linear time.
base::IdVector<protocol::OpId, protocol::OpId> leadersOf(const protocol::ModelRecord& model);

// Returns true for operators such as "lin" of scalar::size, which are drawn only if every operator is.
bool isScalar(const protocol::OpRecord& op);

// Names a structure-only value: "norm", "degree", "edge_index"; empty if there is no word for it, as for a zero tensor
// to add into.
QString structureWord(const protocol::ModelRecord& model, protocol::ValueId value);

// Returns a label such as "gather source × norm": the leader's word and those of the others. `group` is ascending and
// includes the leader.
QString groupLabel(const protocol::ModelRecord& model, protocol::OpId leader, std::span<const protocol::OpId> group);

// Returns the shape of an operator's first output, or of its first input if it has no output: "1,797 × 32"; empty if
// there is none.
QString shapeDetail(const protocol::ModelRecord& model, protocol::OpId op);

// Returns "1 operator", "7 operators".
QString operatorsText(std::size_t count);

// Returns "self-loops, degrees, norm" for operators of the prologue, or "7 operators".
QString prologueDetail(const protocol::ModelRecord& model, std::span<const protocol::OpId> ops);

}  // namespace hopscope::graphview
