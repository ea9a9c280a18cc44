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
    std::optional<int> stages = {};   // the most for an optimum; none: as few as needed
    models::PlanPtr exact = nullptr;  // a plan that was loaded from a file; null: the plan of strategy and pins
    bool operator==(const Cuts&) const = default;
};

// Replaces a pin that answers the same question. A pin that no rule supports switches the strategy to the optimum.
Cuts withPin(Cuts cuts, const plan::Pin& pin);
Cuts withoutPin(Cuts cuts, const plan::Pin& pin);
Cuts withoutPins(Cuts cuts, protocol::ValueId value);  // removes all pins that mention the value
// Stores the value `to` instead of `from`. Moving it back removes the pins of both values.
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
