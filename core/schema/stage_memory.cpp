#include "schema/stage_memory.h"

#include <algorithm>

#include "schema/described_document.h"
#include "schema/forms.h"

namespace hopscope::schema {

namespace {

using json::Reader;
using json::Value;

constexpr const char* format = "hopscope-stage-memory";

// A reader draws by these numbers: none may point outside.
bool isSound(const HeldRows& held, std::size_t position, std::size_t steps)
{
    const auto earlier = [position](const std::optional<std::int64_t>& at) {
        return !at || (*at >= 0 && *at < static_cast<std::int64_t>(position));
    };
    return held.from >= 0 && held.from <= held.to && held.to <= static_cast<std::int64_t>(steps) &&
           earlier(held.over) && earlier(held.viewOf);
}

}  // namespace

static void checkRead(const LoopMemoryRecord& loop, const Reader& item)
{
    const auto steps = static_cast<std::int64_t>(loop.steps.size());
    if (loop.peakStep < 0 || loop.peakStep >= std::max<std::int64_t>(steps, 1))
        item.child("peak_step").refuse("is not a step");
    for (std::size_t h = 0; h < loop.held.size(); ++h)
        if (!isSound(loop.held[h], h, loop.steps.size()))
            item.child("held").refuse("entry " + std::to_string(h) +
                                      " must lie within the steps and refer to earlier entries only");
}

std::int64_t LoopMemoryRecord::peak() const
{
    return steps.empty() ? 0 : steps[static_cast<std::size_t>(peakStep)].bytes;
}

Value stageMemoryValue(const StageMemoryRecord& memory) { return documentOf(memory, format); }

base::Result<StageMemoryRecord> stageMemoryFrom(const Value& document, const std::string& name)
{
    return readDocument<StageMemoryRecord>(document, format, name);
}

}  // namespace hopscope::schema
