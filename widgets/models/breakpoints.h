#pragma once

// The places where a run should stop, and the conditions for stopping.

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

// Returns where a run can stop for the selected target: at its operator or its stage. None if there is no such place.
Target breakPlace(const protocol::ModelRecord& model, const Target& selected);
const Breakpoint* breakpointAt(const std::vector<Breakpoint>& breakpoints, const Target& place);  // null: none
// Adds a breakpoint at a place, or removes the existing one.
std::vector<Breakpoint> toggled(std::vector<Breakpoint> breakpoints, const Target& place);

QString placeText(const protocol::ModelRecord& model, const Target& place);  // "relu after convs.0", "Stage 2"
QString conditionText(const Breakpoint& breakpoint);                         // "on NaN or infinity"; empty: always
QString placeId(const protocol::ModelRecord& model, const Target& place);    // for the engine: "op4", "stage 2"

// A breakpoint as stored in session files. Its id may stem from an older version of the model, so the name of an
// operator has to match as well.
struct SavedBreakpoint {
    QString place, name;  // in the engine's form and in the user's
    Breakpoint rest;      // everything but its place
    bool operator==(const SavedBreakpoint&) const = default;
};
std::vector<SavedBreakpoint> saved(const protocol::ModelRecord& model, const std::vector<Breakpoint>& breakpoints);

struct RestoredBreakpoints {
    std::vector<Breakpoint> found;
    QStringList lost;  // the names of breakpoints whose operators are not in the model
};
RestoredBreakpoints restored(const protocol::ModelRecord& model, const std::vector<SavedBreakpoint>& all);

}  // namespace hopscope::models
