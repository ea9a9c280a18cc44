// Planned: peaks of batches, and the memory of batches over time.

#include <algorithm>

#include "executor/forecast/holdings.h"
#include "executor/forecast/planned.h"

namespace hopscope::forecast {

using ir::RowClass;
using ir::RowKind;

namespace {

template <class CountsOf>
std::map<RowClass, Counts> rowsOf(const executor::LoopProgram& program, CountsOf&& countsOf)
{
    std::map<RowClass, Counts> counts;
    for (const RowClass& rows : classesOf(program)) counts.emplace(rows, countsOf(rows));
    return counts;
}

// The rows of one batch; classes that the program does not use have none.
executor::CountOf rowsIn(const std::map<RowClass, Counts>& counts, std::size_t batch)
{
    return [&counts, batch](const RowClass& rows) {
        const auto it = counts.find(rows);
        return it == counts.end() ? 0.0 : static_cast<double>(it->second.perBatch[batch]);
    };
}

// The batches in which some class has the most rows.
std::set<std::size_t> fullest(const std::map<RowClass, Counts>& counts)
{
    std::set<std::size_t> batches;
    for (const auto& [rows, c] : counts)
        if (!c.perBatch.empty()) batches.insert(c.largest());
    return batches;
}

// The holdings of the batch that holds most, among those in which some class has the most rows.
LoopHoldings fullestHoldings(const analysis::Analysis& analysis, const executor::LoopProgram& program, bool gpu,
                             const std::map<RowClass, Counts>& counts, const Counts& own)
{
    std::optional<LoopHoldings> most;
    for (const std::size_t batch : fullest(counts)) {
        LoopHoldings held = holdingsOf(analysis, program, gpu, rowsIn(counts, batch));
        held.destinations = own.perBatch.at(batch);
        if (!most || held.peak() > most->peak()) most = std::move(held);
    }
    LoopHoldings result = std::move(most).value_or(LoopHoldings{});
    result.destination = program.loop->destination;
    result.batches = static_cast<std::int64_t>(own.perBatch.size());
    return result;
}

// The peak by the tensors of the program alone, in the batch that holds most.
double heldAtMost(const executor::MemoryModel& memory, const std::map<RowClass, Counts>& counts)
{
    std::size_t batches = 0;
    for (const auto& [rows, c] : counts) batches = std::max(batches, c.perBatch.size());
    double most = 0;
    for (std::size_t batch = 0; batch < batches; ++batch) most = std::max(most, memory.peak(rowsIn(counts, batch)));
    return most;
}

}  // namespace

double Planned::memoryOf(const PlannedLoop& l, std::int64_t size, Rows rows, Probing probing)
{
    const plan::Loop& loop = *l.program.loop;
    const ClassRows counts = rowsOf(l.program, [&](const RowClass& on) {
        return rows == Rows::Counted ? m_counts.of(loop, on, size) : m_counts.atMost(loop, on, size);
    });
    return peak(l, counts, probing == Probing::Yes ? learntAbout(l) : nullptr, 0);
}

// The highest peak of the batches in which some class has the most rows.
double Planned::peak(const PlannedLoop& l, const ClassRows& counts, const LoopMemory* learnt, std::int64_t size)
{
    double most = 0;
    for (const std::size_t batch : fullest(counts)) most = std::max(most, bytesIn(l, learnt, counts, batch, size));
    return l.program.tiling ? most * l.program.tiling->workers : most;
}

const LoopMemory* Planned::learntAbout(const PlannedLoop& l)
{
    return m_known.memories.of(m_analysis, m_structure, m_plan, l.program, m_stop);
}

double Planned::bytesIn(const PlannedLoop& l, const LoopMemory* learnt, const ClassRows& counts, std::size_t batch,
                        std::int64_t size)
{
    const executor::CountOf count = rowsIn(counts, batch);
    if (learnt && !learnt->knows(count)) learnt = nullptr;
    if (const auto memory = size > 0 ? dryRun(l, learnt, counts, batch, size) : std::nullopt)
        return static_cast<double>(memory->peak + (batch == 0 ? 0 : memory->reduced));
    if (learnt) return learnt->peak(count, batch == 0);
    double bytes = l.memory.peak(count) + static_cast<double>(l.traffic.numbersPerBatch);
    for (const auto& [rows, traffic] : l.traffic.rows) bytes += static_cast<double>(traffic.numbers) * count(rows);
    return bytes;
}

// Runs batches dry that others do not predict: operators need no copies of a single row, and some loops cannot be
// learnt.
std::optional<DryRun> Planned::dryRun(const PlannedLoop& l, const LoopMemory* learnt, const ClassRows& counts,
                                      std::size_t batch, std::int64_t size)
{
    const RowClass own{RowKind::Batch, l.program.loop->destination, {}};
    const std::int64_t destinations = counts.at(own).perBatch.at(batch);
    if (gpu() || (learnt && destinations > 1)) return std::nullopt;
    std::vector<std::int64_t> rows;
    for (const auto& [on, c] : counts) rows.push_back(c.perBatch.at(batch));
    const executor::Destinations range{static_cast<std::int64_t>(batch) * size, destinations, nullptr};
    return m_known.memories.single(m_analysis, m_structure, m_plan, l.program, range, rows, m_stop);
}

void Planned::addMemory(PredictedStage& result, const PlannedLoop& l, const Counts& own, std::int64_t size)
{
    const ClassRows counts =
        rowsOf(l.program, [&](const RowClass& rows) { return m_counts.of(*l.program.loop, rows, size); });
    result.estimated |= !std::ranges::all_of(fullest(counts), [&](std::size_t batch) {
        const LoopMemory* const learnt = learntAbout(l);
        return (learnt && learnt->knows(rowsIn(counts, batch))) || dryRun(l, nullptr, counts, batch, size).has_value();
    });
    if (const auto most = static_cast<std::int64_t>(peak(l, counts, learntAbout(l), size) + m_held->bytes());
        most > result.peakMemory) {
        result.peakMemory = most;
        result.outside = static_cast<std::int64_t>(m_held->bytes());
    }
    for (std::size_t batch = 0; m_eachBatch && batch < own.perBatch.size(); ++batch)
        result.batchPeaks.push_back(
            static_cast<std::int64_t>(bytesIn(l, learntAbout(l), counts, batch, size) + m_held->bytes()));
}

LeastMemory Planned::leastMemory(PredictOptions options)
{
    options.batch = 1;
    if (m_loops.empty()) compile(options);
    LeastMemory least;
    for (std::size_t s = 0; s < m_loops.size(); ++s)
        for (const PlannedLoop& l : m_loops[s]) {
            const ClassRows counts =
                rowsOf(l.program, [&](const RowClass& rows) { return m_counts.of(*l.program.loop, rows, 1); });
            const auto bytes = static_cast<std::int64_t>(heldAtMost(l.memory, counts));
            if (bytes > least.bytes) least = {m_plan.stages[s].index, bytes};
        }
    const std::int64_t allowed =
        options.memory ? executor::tensorLimit(*options.memory) : std::numeric_limits<std::int64_t>::max();
    if (!gpu()) least.prologue = m_known.outside.most(programsOf(), allowed, m_stop);
    return least;
}

StageMemory Planned::memoryOf(plan::StageId stage, const PredictOptions& options)
{
    const Prediction prediction = predict(options);
    const auto at = static_cast<std::size_t>(stage.number - 1);
    StageMemory memory{.predicted = prediction.stages.at(at), .loops = {}};
    const std::int64_t size = batchSize(options, Probing::Yes);
    for (const PlannedLoop& l : m_loops.at(at)) memory.loops.push_back(holdings(l, size));
    return memory;
}

LoopHoldings Planned::holdings(const PlannedLoop& l, std::int64_t most)
{
    const plan::Loop& loop = *l.program.loop;
    const std::int64_t size = sizeOf(l, most);
    const ClassRows counts = rowsOf(l.program, [&](const RowClass& rows) { return m_counts.of(loop, rows, size); });
    const Counts own = m_counts.of(loop, {RowKind::Batch, loop.destination, {}}, size);
    LoopHoldings held = fullestHoldings(m_analysis, l.program, gpu(), counts, own);
    if (l.program.tiling) held.sideBySide = l.program.tiling->workers;
    return held;
}

}  // namespace hopscope::forecast
