#include "jobs/cuts.h"

namespace hopscope::jobs {

namespace {

bool isPinned(const Cuts& cuts, const std::string& value, const char* kind)
{
    return std::ranges::find(cuts.pins, protocol::PinRecord{kind, value}) != cuts.pins.end();
}

}  // namespace

bool isOptimum(const QString& strategy)
{
    return strategy == QLatin1String("optimal") || strategy == QLatin1String("local-search");
}

Cuts withPin(Cuts cuts, const protocol::PinRecord& pin)
{
    cuts = withoutPin(std::move(cuts), pin);
    if (protocol::needsOptimum(pin) && !isOptimum(cuts.strategy)) cuts.strategy = QStringLiteral("optimal");
    cuts.pins.push_back(pin);
    return cuts;
}

Cuts withoutPin(Cuts cuts, const protocol::PinRecord& pin)
{
    std::erase_if(cuts.pins, [&](const protocol::PinRecord& other) { return protocol::sameQuestion(other, pin); });
    cuts.exact.reset();
    return cuts;
}

Cuts withoutPins(Cuts cuts, const std::string& value)
{
    std::erase_if(cuts.pins, [&](const protocol::PinRecord& pin) { return protocol::mentions(pin, value); });
    cuts.exact.reset();
    return cuts;
}

Cuts withMove(Cuts cuts, const std::string& from, const std::string& to)
{
    const protocol::PinRecord store{"checkpoint", to}, forbid{"no_checkpoint", from};
    if (isPinned(cuts, from, "checkpoint") && isPinned(cuts, to, "no_checkpoint"))
        return withoutPin(withoutPin(std::move(cuts), store), forbid);
    return withPin(withPin(std::move(cuts), forbid), store);
}

std::vector<protocol::PinRecord> fittingPins(const std::vector<protocol::PinRecord>& pins,
                                             const protocol::ModelRecord& model)
{
    std::vector<protocol::PinRecord> fitting;
    for (const protocol::PinRecord& pin : pins)
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
