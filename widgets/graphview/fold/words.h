#pragma once

// Decides which operators are drawn as one node, and how nodes are labelled. Pure functions of the model.

#include <QString>
#include <span>

#include "protocol/model.h"

namespace hopscope::graphview {

// Maps every operator to the one whose node shows it: itself or, for operators that add nothing to the picture
// (reshapes, casts, a bias, a factor from the prologue), the operator whose result they modify. Takes linear time.
base::IdVector<protocol::OpId, protocol::OpId> leadersOf(const protocol::ModelRecord& model);

// "lin" of scalar::size and the like: never drawn unless every operator is.
bool isScalar(const protocol::OpRecord& op);

// Names a structure-only value: "norm", "degree", "edge_index"; empty if there is no word for it (zeros to add into).
QString structureWord(const protocol::ModelRecord& model, protocol::ValueId value);

// "gather source × norm": the leader's word and the words of the others. `group` is ascending and includes the leader.
QString groupLabel(const protocol::ModelRecord& model, protocol::OpId leader, std::span<const protocol::OpId> group);

// "1,797 × 32" of the last operator's first output; empty where it has none.
QString shapeDetail(const protocol::ModelRecord& model, protocol::OpId op);

// "self-loops, degrees, norm" for operators of the prologue, or "7 operators".
QString prologueDetail(const protocol::ModelRecord& model, std::span<const protocol::OpId> ops);

}  // namespace hopscope::graphview
