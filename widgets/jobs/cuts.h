#pragma once

// The cuts that a user has chosen, as plain data, and changes of them as undo steps.

#include <QUndoCommand>
#include <functional>

#include "models/document.h"

namespace hopscope::jobs {

struct Cuts {
    base::Strategy strategy = base::Strategy::Optimal;
    base::Objective objective = base::Objective::Time;
    std::vector<plan::Pin> pins;
    std::optional<int> stages = {};   // the maximum number in a search for a plan; none: no limit by the user
    models::PlanPtr exact = nullptr;  // a plan that was loaded from a file; null: the plan of strategy and pins
    bool operator==(const Cuts&) const = default;
};

// Adds a pin, in place of one that answers the same question. A pin that no rule supports switches a rule to the optimum.
// This and the next three functions drop `exact`.
Cuts withPin(Cuts cuts, const plan::Pin& pin);
Cuts withoutPin(Cuts cuts, const plan::Pin& pin);
Cuts withoutPins(Cuts cuts, protocol::ValueId value);  // removes all pins that mention the value
// Pins `to` as stored and `from` as not stored. Moving a value back removes the two pins of the first move instead.
Cuts withMove(Cuts cuts, protocol::ValueId from, protocol::ValueId to);
// Returns the pins whose values exist in a model, in their order.
std::vector<plan::Pin> fittingPins(const std::vector<plan::Pin>& pins, const protocol::ModelRecord& model);

// Applies cuts through a given function. A refused command removes itself from the stack when it is undone.
class CutCommand : public QUndoCommand {
public:
    using Apply = std::function<void(const Cuts&)>;
    CutCommand(const QString& text, Cuts before, Cuts after, Apply apply);

    void redo() override { m_apply(m_after); }
    void undo() override;
    void refuse() { m_refused = true; }
    [[nodiscard]] const Cuts& after() const { return m_after; }

private:
    Cuts m_before, m_after;
    Apply m_apply;
    bool m_refused = false;
};

}  // namespace hopscope::jobs
