#include "schema/stage_memory.h"

#include <algorithm>

#include "schema/envelope.h"
#include "json/names.h"
#include "json/optional.h"

namespace hopscope::schema {

namespace {

using json::Reader;
using json::Value;

constexpr const char* format = "hopscope-stage-memory";

Value stepValue(const MemoryStep& step)
{
    Value item;
    item["kind"] = base::nameOf(step.kind);
    item["op"] = step.op;
    item["fused"] = Value(step.fused);
    item["label"] = step.label;
    item["bytes"] = step.bytes;
    return item;
}

Value heldValue(const HeldRows& held)
{
    Value item;
    item["value"] = held.value;
    item["label"] = held.label;
    item["rows"] = held.rows;
    item["bytes"] = held.bytes;
    item["from"] = held.from;
    item["to"] = held.to;
    item["over"] = json::orNull(held.over);
    item["view_of"] = json::orNull(held.viewOf);
    item["in_place"] = held.inPlace;
    return item;
}

Value loopValue(const LoopMemoryRecord& loop)
{
    Value item;
    item["table"] = loop.table;
    item["label"] = loop.label;
    item["destinations"] = loop.destinations;
    item["batches"] = loop.batches;
    item["side_by_side"] = loop.sideBySide;
    item["peak_step"] = loop.peakStep;
    item["steps"] = Value::array();
    for (const MemoryStep& step : loop.steps) item["steps"].push(stepValue(step));
    item["held"] = Value::array();
    for (const HeldRows& held : loop.held) item["held"].push(heldValue(held));
    return item;
}

MemoryStep stepFrom(const Reader& item)
{
    return {.kind = json::named<plan::BatchStep>(item, "kind"),
            .op = item.get<std::string>("op"),
            .fused = item.get<std::vector<std::string>>("fused"),
            .label = item.get<std::string>("label"),
            .bytes = item.get<std::int64_t>("bytes")};
}

HeldRows heldFrom(const Reader& item)
{
    return {.value = item.get<std::string>("value"),
            .label = item.get<std::string>("label"),
            .rows = item.get<std::string>("rows"),
            .bytes = item.get<std::int64_t>("bytes"),
            .from = item.get<std::int64_t>("from"),
            .to = item.get<std::int64_t>("to"),
            .over = json::nullable<std::int64_t>(item, "over"),
            .viewOf = json::nullable<std::int64_t>(item, "view_of"),
            .inPlace = item.get<bool>("in_place")};
}

// A reader draws by these numbers: none may point outside.
bool isSound(const HeldRows& held, std::size_t position, std::size_t steps)
{
    const auto earlier = [position](const std::optional<std::int64_t>& at) {
        return !at || (*at >= 0 && *at < static_cast<std::int64_t>(position));
    };
    return held.from >= 0 && held.from <= held.to && held.to <= static_cast<std::int64_t>(steps) &&
           earlier(held.over) && earlier(held.viewOf);
}

void checkNumbers(const Reader& item, const LoopMemoryRecord& loop)
{
    const auto steps = static_cast<std::int64_t>(loop.steps.size());
    if (loop.peakStep < 0 || loop.peakStep >= std::max<std::int64_t>(steps, 1))
        item.child("peak_step").refuse("is no step");
    for (std::size_t h = 0; h < loop.held.size(); ++h)
        if (!isSound(loop.held[h], h, loop.steps.size()))
            item.child("held").refuse("entry " + std::to_string(h) +
                                      " is outside of the steps, or refers to a later one");
}

LoopMemoryRecord loopFrom(const Reader& item)
{
    LoopMemoryRecord loop{.table = item.get<std::string>("table"),
                          .label = item.get<std::string>("label"),
                          .destinations = item.get<std::int64_t>("destinations"),
                          .batches = item.get<std::int64_t>("batches"),
                          .sideBySide = item.get<std::int64_t>("side_by_side"),
                          .peakStep = item.get<std::int64_t>("peak_step")};
    for (const Reader& step : item.items("steps")) loop.steps.push_back(stepFrom(step));
    for (const Reader& held : item.items("held")) loop.held.push_back(heldFrom(held));
    if (item.ok()) checkNumbers(item, loop);
    return loop;
}

}  // namespace

std::int64_t LoopMemoryRecord::peak() const
{
    return steps.empty() ? 0 : steps[static_cast<std::size_t>(peakStep)].bytes;
}

Value stageMemoryValue(const StageMemoryRecord& memory)
{
    Value document = startDocument(format);
    document["stage"] = memory.stage.number;
    document["peak_memory"] = memory.peakMemory;
    document["outside"] = memory.outside;
    document["estimated"] = memory.estimated;
    document["loops"] = Value::array();
    for (const LoopMemoryRecord& loop : memory.loops) document["loops"].push(loopValue(loop));
    return document;
}

base::Result<StageMemoryRecord> stageMemoryFrom(const Value& document, const std::string& name)
{
    const Reader root(document, name);
    checkEnvelope(root, format);
    StageMemoryRecord memory;
    memory.stage = plan::StageId(static_cast<int>(root.get<std::int64_t>("stage")));
    memory.peakMemory = root.get<std::int64_t>("peak_memory");
    memory.outside = root.get<std::int64_t>("outside");
    memory.estimated = root.get<bool>("estimated");
    for (const Reader& loop : root.items("loops")) memory.loops.push_back(loopFrom(loop));
    if (!root.ok()) return base::forward(root.status());
    return memory;
}

}  // namespace hopscope::schema
