#pragma once

// Where a run is to stop, and under which condition.

#include <QString>
#include <QStringList>
#include <vector>

#include "models/selection.h"

namespace hopscope::models {

enum class BreakOn { Always, NotFinite, OutsideRange, Node };

struct Breakpoint {
    Target place{};  // an operator or a stage
    BreakOn condition = BreakOn::Always;
    double least = -1, most = 1;  // OutsideRange
    qint64 node = 0;              // Node: the batch that computes it
    bool operator==(const Breakpoint&) const = default;
};

// The place where a run can stop for what is selected: its operator, or its stage. None: there is none.
Target breakPlace(const protocol::ModelRecord& model, const Target& selected);
const Breakpoint* breakpointAt(const std::vector<Breakpoint>& breakpoints, const Target& place);  // null: none
// With one there, or without the one that was there.
std::vector<Breakpoint> toggled(std::vector<Breakpoint> breakpoints, const Target& place);

QString placeText(const protocol::ModelRecord& model, const Target& place);  // "relu after convs.0", "Stage 2"
QString conditionText(const Breakpoint& breakpoint);                         // "NaN or infinity"; empty: always
QString placeId(const protocol::ModelRecord& model, const Target& place);    // for the engine: "op4", "stage 2"

// As session files keep it. Ids are those of a model that may have changed since: an operator is the same if its name is, too.
struct SavedBreakpoint {
    QString place, name;  // as the engine and as people call it
    Breakpoint rest;      // but for its place
    bool operator==(const SavedBreakpoint&) const = default;
};
std::vector<SavedBreakpoint> saved(const protocol::ModelRecord& model, const std::vector<Breakpoint>& breakpoints);

struct RestoredBreakpoints {
    std::vector<Breakpoint> found;
    QStringList lost;  // the names of those whose operators are not in the model
};
RestoredBreakpoints restored(const protocol::ModelRecord& model, const std::vector<SavedBreakpoint>& all);

}  // namespace hopscope::models
