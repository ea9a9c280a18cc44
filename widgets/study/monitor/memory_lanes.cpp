#include "study/monitor/memory_lanes.h"

#include <algorithm>

#include "models/labels.h"
#include "models/tr.h"

namespace hopscope::study {

namespace {

using models::formatBytes;
using models::text;

QString bytes(std::int64_t number) { return formatBytes(static_cast<double>(number)); }

QString remarkOn(const schema::LoopMemoryRecord& loop, const schema::HeldRows& held)
{
    const auto label = [&](std::int64_t at) { return text(loop.held[static_cast<std::size_t>(at)].label); };
    if (held.over) return tr(", written over %1").arg(label(*held.over));
    if (held.viewOf) return tr(", a view of %1").arg(label(*held.viewOf));
    return held.inPlace ? tr(", used in place") : QString();
}

}  // namespace

std::vector<int> lanesOf(const schema::LoopMemoryRecord& loop)
{
    std::vector<int> lanes;
    std::vector<std::int64_t> ends;  // of each lane, so far
    for (const schema::HeldRows& held : loop.held) {
        const bool over = held.over.has_value();
        const auto free = std::ranges::find_if(ends, [&](std::int64_t end) { return end <= held.from; });
        const auto lane = over ? static_cast<std::size_t>(lanes[static_cast<std::size_t>(*held.over)])
                               : static_cast<std::size_t>(free - ends.begin());
        if (lane == ends.size()) ends.push_back(0);
        ends[lane] = std::max(held.to, held.from + 1);
        lanes.push_back(static_cast<int>(lane));
    }
    return lanes;
}

QString heldSentence(const schema::LoopMemoryRecord& loop, int number)
{
    const schema::HeldRows& held = loop.held[static_cast<std::size_t>(number)];
    const bool atPeak = held.bytes > 0 && held.from <= loop.peakStep && loop.peakStep < held.to;
    QString words = tr("%1 on %2: %3").arg(text(held.label), text(held.rows), bytes(held.bytes));
    words += held.to - held.from > 1 ? tr(" from step %1 to %2").arg(held.from + 1).arg(held.to)
                                     : tr(" at step %1").arg(held.from + 1);
    return words + remarkOn(loop, held) + (atPeak ? tr(", held at the peak") : QString());
}

QString peakSentence(const schema::StageMemoryRecord& memory, const schema::LoopMemoryRecord& loop)
{
    if (loop.steps.empty()) return tr("This stage computes nothing in batches.");
    const schema::MemoryStep& step = loop.steps[static_cast<std::size_t>(loop.peakStep)];
    QString words = tr("The memory of a batch of %1 destinations peaks at step %2 (%3): %4.")
                        .arg(models::formatCount(static_cast<double>(loop.destinations)))
                        .arg(loop.peakStep + 1)
                        .arg(text(step.label), bytes(step.bytes));
    if (loop.sideBySide > 1) words += u' ' + tr("%1 batches are computed at once.").arg(loop.sideBySide);
    words += u' ' + tr("The stage's peak is %1, including %2 outside of batches and the temporary memory of operators.")
                        .arg(bytes(memory.peakMemory), bytes(memory.outside));
    return memory.estimated ? words + u' ' + tr("This is an estimate.") : words;
}

}  // namespace hopscope::study
