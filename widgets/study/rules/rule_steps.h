#pragma once

// Shows the steps by which a strategy arrives at its plan as pictures and captions. The functions are pure.

#include <QStringList>

#include "models/document.h"
#include "plan/walkthrough.h"

namespace hopscope::study {

// A walkthrough in the sequence. There is one for each strategy that has a plan, with the minimum cut before the
// optimum.
struct Way {
    QString name;
    std::optional<base::Strategy> strategy{};  // none: the colouring
    int steps = 0;
};
std::vector<Way> waysOf(const plan::Walkthroughs& all);

// Returns the plan after `step` (from 0) of the walkthrough: the stages that compute each operator, and the stored
// values. For the colouring, these are the stages of the depths, with the black nodes stored one by one. The plan
// serves for pictures only.
models::PlanPtr planAfter(const plan::Walkthroughs& all, const Way& way, int step, const protocol::ModelRecord& model);

// Describes the step and its reason.
QString captionOf(const plan::Walkthroughs& all, const Way& way, int step, const protocol::ModelRecord& model);
// Lists the operators that the step moves, by stage: "Stage 2: relu, norms.1"; empty if it moves none.
QStringList movesOf(const plan::Walkthroughs& all, const Way& way, int step, const protocol::ModelRecord& model);

// A line of the comparison. Unknown entries are "–".
struct WaySummary {
    QString name, stages, stores, moved, again;
    QString values{};  // the names of the stored values
};
std::vector<WaySummary> summaries(const plan::Walkthroughs& all, const models::Document& document);

}  // namespace hopscope::study
