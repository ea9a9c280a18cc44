#pragma once

// The cuts a user has chosen, as plain data, and the changes of them as steps of undo.

#include <QUndoCommand>
#include <functional>

#include "models/document.h"

namespace hopscope::jobs {

struct Cuts {
    base::Strategy strategy = base::Strategy::Optimal;
    base::Objective objective = base::Objective::Time;
    std::vector<plan::Pin> pins;
    std::optional<int> stages = {};   // that an optimum may have; none: as few as the pins allow
    models::PlanPtr exact = nullptr;  // a plan that was loaded from a file; null: what strategy and pins give
    bool operator==(const Cuts&) const = default;
};

// Replaces a pin that answers the same question. What no rule keeps to makes an optimum of it.
Cuts withPin(Cuts cuts, const plan::Pin& pin);
Cuts withoutPin(Cuts cuts, const plan::Pin& pin);
Cuts withoutPins(Cuts cuts, protocol::ValueId value);  // none that mentions the value
// The value `from` is no longer stored, `to` is. Moving back where it came from leaves no pins.
Cuts withMove(Cuts cuts, protocol::ValueId from, protocol::ValueId to);
// The pins that a model has the values of, in their order.
std::vector<plan::Pin> fittingPins(const std::vector<plan::Pin>& pins, const protocol::ModelRecord& model);

// Applies cuts by a function that it is given. A command that is refused removes itself from the stack when it is undone.
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
