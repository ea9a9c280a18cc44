#pragma once

// The steps by which a strategy arrives at its plan, as pictures and captions. Pure functions.

#include <QStringList>

#include "models/document.h"
#include "plan/walkthrough.h"

namespace hopscope::study {

// One walkthrough in the sequence: the strategies that have a plan, with the minimum cut before the optimum.
struct Way {
    QString name;
    std::optional<base::Strategy> strategy{};  // none: the colouring
    int steps = 0;
};
std::vector<Way> waysOf(const plan::Walkthroughs& all);

// The plan after `step` (from 0) of the way: the stages that compute each operator, and the stored values. For the
// colouring: the stages of the depths, with the black nodes stored one by one. For pictures only.
models::PlanPtr planAfter(const plan::Walkthroughs& all, const Way& way, int step, const protocol::ModelRecord& model);

// Describes the step and its reason.
QString captionOf(const plan::Walkthroughs& all, const Way& way, int step, const protocol::ModelRecord& model);
// The operators that it moves, by stage: "Stage 2: relu, norms.1"; empty: it moves none.
QStringList movesOf(const plan::Walkthroughs& all, const Way& way, int step, const protocol::ModelRecord& model);

// A line of the comparison; unknown entries are "–".
struct WaySummary {
    QString name, stages, stores, moved, again;
    QString values{};  // the names of the stored values
};
std::vector<WaySummary> summaries(const plan::Walkthroughs& all, const models::Document& document);

}  // namespace hopscope::study
