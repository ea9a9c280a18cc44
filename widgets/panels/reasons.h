#pragma once

// Explains the depth of an operator, and the effect of storing a value. The functions are pure and depend on the model
// and its plans.

#include <optional>
#include <vector>

#include "models/document.h"
#include "models/selection.h"

namespace hopscope::panels {

struct Fact {
    QString name, value;
    bool operator==(const Fact&) const = default;
};

// Returns arguments, rows, shape, bytes, depth, stage and predicted time of an operator, an input or an output, in the
// order in which they are shown.
std::vector<Fact> opFacts(const protocol::ModelRecord& model, const protocol::PlanRecord* plan, protocol::OpId op);
std::vector<Fact> moduleFacts(const protocol::ModelRecord& model, const protocol::PlanRecord* plan,
                              const QString& path);
std::vector<Fact> stageFacts(const protocol::PlanRecord& plan, protocol::StageId stage);
// Returns the measured times of an operator, or of all operators of a module; empty if nothing was measured. `report`
// may be null.
std::vector<Fact> measuredFacts(const protocol::ModelRecord& model, const schema::Report* report, protocol::OpId op);
std::vector<Fact> measuredFacts(const protocol::ModelRecord& model, const schema::Report* report, const QString& path);

// One hop on the way to a value: an operator that reads rows of neighbours.
struct Hop {
    protocol::OpId op;        // the reader
    protocol::ValueId value;  // the value that it reads
    bool operator==(const Hop&) const = default;
};

// Returns the hops that give an operator its depth, first to last, as many as its depth.
std::vector<Hop> hopsBehind(const protocol::ModelRecord& model, protocol::OpId op);
QString depthHeading(const protocol::OpRecord& op);  // "Why depth 2"
QString depthReason(const protocol::ModelRecord& model, protocol::OpId op);

// The question whether to store the value of an operator, or not to store it.
struct CutQuestion {
    enum class Can { Nothing, Store, Forbid };
    Can can = Can::Nothing;
    bool pinned = false;  // by the user, in either direction
    protocol::ValueId value;
    QString heading, sentence;    // facts known without a query
    std::vector<plan::Pin> pins;  // for the query to the engine; empty: there is no question
};

CutQuestion cutQuestion(const protocol::ModelRecord& model, const protocol::PlanRecord* plan, protocol::OpId op);
// Returns the engine's answer as text: bytes, recomputation, memory and stages, compared with the current plan.
QString cutAnswer(const CutQuestion& question, const protocol::PlanRecord& now, const protocol::PlanRecord& then);

// Returns the bytes written and read; none without a prediction.
std::optional<std::int64_t> movedBytes(const protocol::PlanRecord& plan);
int recomputedOps(const protocol::PlanRecord& plan);

}  // namespace hopscope::panels
