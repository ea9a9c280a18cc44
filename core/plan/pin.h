#pragma once

// A decision of the user about a plan.

#include "base/choices.h"
#include "ir/program.h"
#include "plan/stage_id.h"

namespace hopscope::plan {

using base::PinKind;

struct Pin {
    PinKind kind = PinKind::Checkpoint;
    ir::ValueId value;       // of a cut: the operand
    ir::ValueId consumer{};  // of a cut: the value whose operator takes the operand from a store
    StageId stage{};         // of a hop stage
    bool operator==(const Pin&) const = default;
};

// True if both pins answer the same question: whether a value is stored, whether a consumer reads it from a store, in
// which stage it is gathered or aggregated, or whether it is computed only once. Only the later one then counts.
inline bool sameQuestion(const Pin& left, const Pin& right)
{
    if (left.value != right.value) return false;
    if (base::isStoring(left.kind)) return base::isStoring(right.kind);
    return left.kind == right.kind && left.consumer == right.consumer;
}

inline bool mentions(const Pin& pin, ir::ValueId value) { return pin.value == value || pin.consumer == value; }

}  // namespace hopscope::plan
