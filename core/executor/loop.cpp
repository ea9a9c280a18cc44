#include "executor/loop.h"

#include <algorithm>
#include <numeric>
#include <random>

#include "base/units.h"

namespace hopscope::executor {

using ir::RowClass;
using ir::RowKind;

LoopRunner::LoopRunner(Session& session, const LoopProgram& program, StageReport& report, double budget)
    : m_session(session),
      m_program(program),
      m_report(report),
      m_block(session.structure, session.analysis, *program.loop),
      m_batch(session, program, m_block),
      m_model(program),
      m_sizer(session.options.batch, budget)
{}

std::vector<std::int64_t> LoopRunner::shuffled(std::int64_t count) const
{
    if (!m_session.options.shuffleSeed) return {};
    std::vector<std::int64_t> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::mt19937_64 random(*m_session.options.shuffleSeed);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
    return order;
}

double LoopRunner::rowsPredicted(const RowClass& rows, const Destinations& destinations)
{
    if (rows.kind == RowKind::Batch) return static_cast<double>(destinations.count);
    if (rows.kind == RowKind::Owned) return static_cast<double>(m_block.countFor(rows, destinations));
    double asking = 0;
    for (const plan::FrontierSource& s : m_program.loop->frontier)
        if (s.type == rows.table)
            asking += static_cast<double>(
                m_block.countFor(analysis::owned(m_session.analysis, s.space, s.owner), destinations));
    const double own = rows.table == m_program.loop->destination ? static_cast<double>(destinations.count) : 0;
    return std::min(own + m_frontierRatio * asking, static_cast<double>(m_session.structure.size(rows.table)));
}

// Registers, and the block's own row numbers: some 24 bytes per owned row.
double LoopRunner::predicted(const Destinations& destinations)
{
    double bytes = m_model.peak([&](const RowClass& rows) { return rowsPredicted(rows, destinations); });
    for (const RowClass& rows : m_program.classes)
        bytes += 24.0 * static_cast<double>(m_block.countFor(rows, destinations));
    return bytes + 16.0 * static_cast<double>(destinations.count);
}

void LoopRunner::run(std::int64_t& done, std::int64_t total)
{
    const std::int64_t count = m_session.structure.size(m_program.loop->destination);
    const std::vector<std::int64_t> order = shuffled(count);
    m_done = done;
    m_total = total;
    std::int64_t first = 0;
    while (first < count) {
        m_session.checkStop();
        const auto range = [&](std::int64_t n) {
            return Destinations{first, n, order.empty() ? nullptr : order.data()};
        };
        const std::int64_t n = m_sizer.next(count - first, [&](std::int64_t k) { return predicted(range(k)); });
        if (!attempt(range(n))) {
            backOff(range(n));
            continue;
        }
        first += n;
        m_done += n;
        account(range(n).count ? Destinations{first - n, n, range(n).order} : Destinations{}, m_number++, m_done,
                m_total);
    }
    done = m_done;
}

// False if the batch ran out of memory: nothing of it remains.
bool LoopRunner::attempt(const Destinations& destinations)
{
    DeviceContext& device = m_session.device;
    device.resetPeak();
    const std::int64_t before = device.memory().current;
    m_predicted = predicted(destinations);
    try {
        m_block.begin(destinations);
        m_batch.compute();
    } catch (const c10::OutOfMemoryError&) {
        m_batch.clear();
        m_block.end();
        return false;
    } catch (const std::bad_alloc&) {
        m_batch.clear();
        m_block.end();
        return false;
    }
    m_batch.commit();
    learnFrontier(destinations);
    m_sizer.observe(m_predicted, static_cast<double>(device.memory().peak - before));
    return true;
}

void LoopRunner::learnFrontier(const Destinations& destinations)
{
    m_frontier = m_edges = 0;
    double asking = 0, fresh = 0;
    std::set<ir::SpaceId> types;
    for (const plan::FrontierSource& s : m_program.loop->frontier) {
        asking +=
            static_cast<double>(m_block.countFor(analysis::owned(m_session.analysis, s.space, s.owner), destinations));
        types.insert(s.type);
    }
    for (ir::SpaceId t : types) {
        const std::int64_t rows = m_block.count({RowKind::Frontier, t, {}});
        m_frontier += rows;
        fresh += static_cast<double>(t == m_program.loop->destination ? rows - destinations.count : rows);
    }
    for (const RowClass& rows : m_program.classes) m_edges += m_block.count(rows);
    if (asking > 0) m_frontierRatio = std::clamp(fresh / asking * 1.1, m_frontierRatio * 0.7, 1.0);
}

void LoopRunner::backOff(const Destinations& destinations)
{
    ++m_report.backOffs;
    if (!m_sizer.backOff(destinations.count)) {
        std::int64_t edges = 0;
        for (const RowClass& rows : m_program.classes) edges += m_block.countFor(rows, destinations);
        const auto limit = m_session.options.memoryLimit;
        raise(base::ErrorCode::Resources,
              "stage " + std::to_string(m_report.index) + " runs out of memory with one destination, which owns " +
                  base::formatCount(static_cast<double>(edges)) + " rows and needs about " +
                  base::formatBytes(m_predicted) +
                  (limit ? "; the limit is " + base::formatBytes(static_cast<double>(*limit)) : ""),
              "raise --memory");
    }
    const std::string note = "stage " + std::to_string(m_report.index) + ": batch reduced to " +
                             base::formatCount(static_cast<double>(destinations.count / 2)) +
                             " destinations after running out of memory";
    m_session.report.notes.push_back(note);
    m_session.observer.note(note);
}

void LoopRunner::reportPhases(std::int64_t number)
{
    const BatchCost& cost = m_batch.cost();
    for (int p = 0; p < phaseCount; ++p) {
        const auto at = static_cast<std::size_t>(p);
        if (cost.seconds[at] == 0) continue;
        m_session.observer.phaseFinished(
            {m_report.index, number, static_cast<Phase>(p), cost.starts[at], cost.seconds[at]});
    }
    m_report.phases.block += cost.seconds[0];
    m_report.phases.gather += cost.seconds[1];
    m_report.phases.h2d += cost.seconds[2];
    m_report.phases.compute += cost.seconds[3];
    m_report.phases.d2h += cost.seconds[4];
    m_report.phases.write += cost.seconds[5];
}

void LoopRunner::account(const Destinations& destinations, std::int64_t number, std::int64_t done, std::int64_t total)
{
    const BatchCost& cost = m_batch.cost();
    const MemoryStats memory = m_session.device.memory();
    reportPhases(number);
    ++m_report.batches;
    const std::int64_t n = destinations.count;
    m_report.smallestBatch = m_report.smallestBatch ? std::min(m_report.smallestBatch, n) : n;
    m_report.largestBatch = std::max(m_report.largestBatch, n);
    m_report.bytes.d2h += cost.writtenBytes;
    m_report.bytes.h2d += cost.readBytes;
    m_report.bytes.structure += cost.structureBytes + m_block.structureBytes();
    m_report.peakMemory = std::max(m_report.peakMemory, memory.peak);
    m_report.frontierRows += m_frontier;
    m_report.destinations += n;
    m_session.observer.batchFinished({m_report.index, m_session.analysis.tables.spaceName(m_program.loop->destination),
                                      number, n, m_edges, m_frontier, done, total, memory.current, memory.peak});
    m_batch.clear();
    m_block.end();
}

}  // namespace hopscope::executor
