#include "pipeline/planning/stage_memory.h"

#include <algorithm>
#include <iterator>

#include "analysis/naming/table_labels.h"
#include "analysis/naming/value_names.h"
#include "schema/names.h"

namespace hopscope::pipeline {

namespace {

using forecast::HeldStep;
using forecast::Holding;

class Names {
public:
    explicit Names(const analysis::Analysis& analysis) : m_analysis(analysis), m_values(analysis), m_names(analysis) {}

    [[nodiscard]] schema::HeldRows held(const Holding& holding) const
    {
        const auto at = [](const std::optional<std::size_t>& position) {
            return position ? std::optional(static_cast<std::int64_t>(*position)) : std::nullopt;
        };
        return {.value = holding.value.valid() ? ir::valueName(holding.value) : std::string(),
                .label = holding.value.valid() ? m_values[holding.value] : "row numbers",
                .rows = analysis::rowsLabel(m_analysis.tables, holding.rows),
                .bytes = holding.bytes,
                .from = static_cast<std::int64_t>(holding.from),
                .to = static_cast<std::int64_t>(holding.to),
                .over = at(holding.over),
                .viewOf = at(holding.viewOf),
                .inPlace = holding.inPlace};
    }

    [[nodiscard]] schema::LoopMemoryRecord loop(const forecast::LoopHoldings& loop) const
    {
        schema::LoopMemoryRecord record{.table = m_names.space(loop.destination),
                                        .label = analysis::tableLabel(m_analysis.tables, loop.destination),
                                        .destinations = loop.destinations,
                                        .batches = loop.batches,
                                        .sideBySide = loop.sideBySide,
                                        .peakStep = static_cast<std::int64_t>(loop.peakStep)};
        for (const Holding& holding : loop.held) record.held.push_back(held(holding));
        for (std::size_t at = 0; at < loop.steps.size(); ++at) record.steps.push_back(step(loop, at, record.held));
        return record;
    }

private:
    // A step is named after its result.
    [[nodiscard]] static schema::MemoryStep step(const forecast::LoopHoldings& loop, std::size_t at,
                                                 const std::vector<schema::HeldRows>& held)
    {
        const HeldStep& step = loop.steps[at];
        schema::MemoryStep record{.kind = step.kind, .bytes = loop.bytes[at]};
        if (step.op.valid()) record.op = ir::opName(step.op);
        std::ranges::transform(step.fused, std::back_inserter(record.fused), ir::opName);
        const auto made = std::ranges::find(held, static_cast<std::int64_t>(at), &schema::HeldRows::from);
        if (made != held.end()) record.label = made->label;
        return record;
    }

    const analysis::Analysis& m_analysis;
    analysis::ValueNames m_values;
    schema::Names m_names;
};

}  // namespace

base::Result<schema::StageMemoryRecord> stageMemory(const Prepared& prepared, forecast::Predictor& predictor,
                                                    const plan::Plan& plan, plan::StageId stage,
                                                    const forecast::PredictOptions& options, std::stop_token stop)
{
    const auto memory = predictor.memoryOf(plan, stage, options, std::move(stop));
    if (!memory) return base::forward(memory);
    const Names names(prepared.analysis);
    schema::StageMemoryRecord record{.stage = memory->predicted.index,
                                     .peakMemory = memory->predicted.peakMemory,
                                     .outside = memory->predicted.outside,
                                     .estimated = memory->predicted.estimated};
    for (const forecast::LoopHoldings& loop : memory->loops) record.loops.push_back(names.loop(loop));
    return record;
}

}  // namespace hopscope::pipeline
