#include "base/units.h"
#include "cli/describe.h"
#include "cli/table.h"

namespace hopscope::engine {

namespace {

std::string bytes(std::int64_t number) { return base::formatBytes(static_cast<double>(number)); }

std::string remark(const schema::HeldRows& held, const schema::LoopMemoryRecord& loop)
{
    const auto label = [&](std::int64_t at) { return loop.held[static_cast<std::size_t>(at)].label; };
    if (held.over) return "written over " + label(*held.over);
    if (held.viewOf) return "a view of " + label(*held.viewOf);
    return held.inPlace ? "used in place" : "";
}

// Marks the values held at the peak. Steps count from 1; the last step of a value is the last one that sees it.
std::string heldTable(const schema::LoopMemoryRecord& loop)
{
    Table table({Align::Left, Align::Right, Align::Right, Align::Left, Align::Left, Align::Right, Align::Left});
    table.add({"", "from", "to", "value", "on", "bytes", ""});
    for (const schema::HeldRows& held : loop.held) {
        const bool atPeak = held.from <= loop.peakStep && loop.peakStep < held.to && held.bytes > 0;
        table.add({atPeak ? "*" : "", count(held.from + 1), count(held.to), held.label, held.rows, bytes(held.bytes),
                   remark(held, loop)});
    }
    return table.render();
}

std::string stepTable(const schema::LoopMemoryRecord& loop)
{
    Table table({Align::Left, Align::Right, Align::Left, Align::Left, Align::Right});
    table.add({"", "step", "", "result", "live bytes"});
    for (std::size_t at = 0; at < loop.steps.size(); ++at) {
        const schema::MemoryStep& step = loop.steps[at];
        const bool peak = static_cast<std::int64_t>(at) == loop.peakStep;
        table.add({peak ? "*" : "", std::to_string(at + 1), step.op.empty() ? base::nameOf(step.kind) : step.op,
                   step.label, bytes(step.bytes)});
    }
    return table.render();
}

std::string loopText(const schema::LoopMemoryRecord& loop, const Style& style)
{
    std::string text = "\n" + style.bold("batches of " + loop.label) + ": " + count(loop.batches) + ", with " +
                       base::counted(loop.destinations, "destination") + " and " + bytes(loop.peak()) + " at most";
    if (loop.sideBySide > 1) text += ", " + count(loop.sideBySide) + " in parallel";
    return text + "\n" + stepTable(loop) + "\n" + heldTable(loop);
}

}  // namespace

std::string describeStageMemory(const schema::StageMemoryRecord& memory, const Style& style)
{
    std::string text = style.bold("stage " + std::to_string(memory.stage.number)) + ": peak " +
                       bytes(memory.peakMemory) + (memory.estimated ? " (an estimate)" : "") + ", including " +
                       bytes(memory.outside) + " outside of batches\n";
    for (const schema::LoopMemoryRecord& loop : memory.loops) text += loopText(loop, style);
    return text +
           "\nThe peak includes the scratch memory of operators. * marks the step with the peak of a loop, and the "
           "values that are live then.\n";
}

}  // namespace hopscope::engine
