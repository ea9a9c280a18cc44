#include "jobs/cuts.h"

namespace hopscope::jobs {

namespace {

const protocol::PinRecord* pinOf(const Cuts& cuts, const std::string& value)
{
    for (const protocol::PinRecord& pin : cuts.pins)
        if (pin.value == value) return &pin;
    return nullptr;
}

bool isPinned(const Cuts& cuts, const std::string& value, const char* kind)
{
    const protocol::PinRecord* pin = pinOf(cuts, value);
    return pin && pin->kind == kind;
}

}  // namespace

Cuts withPin(Cuts cuts, const protocol::PinRecord& pin)
{
    cuts = withoutPin(std::move(cuts), pin.value);
    cuts.pins.push_back(pin);
    return cuts;
}

Cuts withoutPin(Cuts cuts, const std::string& value)
{
    std::erase_if(cuts.pins, [&](const protocol::PinRecord& pin) { return pin.value == value; });
    cuts.exact.reset();
    return cuts;
}

Cuts withMove(Cuts cuts, const std::string& from, const std::string& to)
{
    if (isPinned(cuts, from, "checkpoint") && isPinned(cuts, to, "no_checkpoint"))
        return withoutPin(withoutPin(std::move(cuts), from), to);
    return withPin(withPin(std::move(cuts), {"no_checkpoint", from}), {"checkpoint", to});
}

std::vector<protocol::PinRecord> fittingPins(const std::vector<protocol::PinRecord>& pins,
                                             const protocol::ModelRecord& model)
{
    std::vector<protocol::PinRecord> fitting;
    for (const protocol::PinRecord& pin : pins)
        if (model.valueIndex(pin.value) >= 0) fitting.push_back(pin);
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
