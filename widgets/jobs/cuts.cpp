#include "jobs/cuts.h"

namespace hopscope::jobs {

using plan::Pin;
using plan::PinKind;

Cuts withPin(Cuts cuts, const Pin& pin)
{
    cuts = withoutPin(std::move(cuts), pin);
    if (!base::isStoring(pin.kind) && base::isRule(cuts.strategy)) cuts.strategy = base::Strategy::Optimal;
    cuts.pins.push_back(pin);
    return cuts;
}

Cuts withoutPin(Cuts cuts, const Pin& pin)
{
    std::erase_if(cuts.pins, [&](const Pin& other) { return plan::sameQuestion(other, pin); });
    cuts.exact.reset();
    return cuts;
}

Cuts withoutPins(Cuts cuts, protocol::ValueId value)
{
    std::erase_if(cuts.pins, [&](const Pin& pin) { return plan::mentions(pin, value); });
    cuts.exact.reset();
    return cuts;
}

Cuts withMove(Cuts cuts, protocol::ValueId from, protocol::ValueId to)
{
    const Pin store{.kind = PinKind::Checkpoint, .value = to}, forbid{.kind = PinKind::NoCheckpoint, .value = from};
    const auto isPinned = [&](const Pin& pin) { return std::ranges::find(cuts.pins, pin) != cuts.pins.end(); };
    if (isPinned({.kind = PinKind::Checkpoint, .value = from}) &&
        isPinned({.kind = PinKind::NoCheckpoint, .value = to}))
        return withoutPin(withoutPin(std::move(cuts), store), forbid);
    return withPin(withPin(std::move(cuts), forbid), store);
}

std::vector<Pin> fittingPins(const std::vector<Pin>& pins, const protocol::ModelRecord& model)
{
    std::vector<Pin> fitting;
    for (const Pin& pin : pins)
        if (protocol::fits(pin, model)) fitting.push_back(pin);
    return fitting;
}

CutCommand::CutCommand(const QString& text, Cuts before, Cuts after, Apply apply)
    : QUndoCommand(text),
      m_before(std::move(before)),
      m_after(std::move(after)),
      m_apply(std::move(apply))
{}

void CutCommand::undo()
{
    setObsolete(m_refused);
    m_apply(m_before);
}

}  // namespace hopscope::jobs
