#include "executor/loop/loop_sizer.h"

#include <algorithm>
#include <set>

namespace hopscope::executor {

using ir::RowClass;
using ir::RowKind;

BatchMemory::BatchMemory(const analysis::Analysis& analysis, Structure& structure, const LoopProgram& program, bool gpu)
    : m_analysis(analysis),
      m_structure(structure),
      m_program(program),
      m_gpu(gpu),
      m_block(structure, analysis, *program.loop),
      m_model(program, gpu)
{}

// Registers; and where row numbers are made in the same memory, some 24 bytes per owned row.
double BatchMemory::bytes(const Destinations& destinations, double frontierRatio)
{
    const double registers = m_model.peak([&](const RowClass& on) { return rows(on, destinations, frontierRatio); });
    if (m_gpu) return registers;
    return registers + 24.0 * static_cast<double>(ownedRows(destinations)) +
           16.0 * static_cast<double>(destinations.count);
}

double BatchMemory::rows(const RowClass& on, const Destinations& destinations, double frontierRatio)
{
    if (on.kind == RowKind::Batch) return static_cast<double>(destinations.count);
    if (on.kind == RowKind::Owned) return static_cast<double>(m_block.countFor(on, destinations));
    double asking = 0;
    for (const plan::FrontierSource& s : m_program.loop->frontier)
        if (s.type == on.table)
            asking +=
                static_cast<double>(m_block.countFor(analysis::owned(m_analysis, s.space, s.owner), destinations));
    const double own = on.table == m_program.loop->destination ? static_cast<double>(destinations.count) : 0;
    return std::min(own + frontierRatio * asking, static_cast<double>(m_structure.size(on.table)));
}

std::int64_t BatchMemory::ownedRows(const Destinations& destinations)
{
    std::int64_t rows = 0;
    for (const RowClass& owned : m_program.classes) rows += m_block.countFor(owned, destinations);
    return rows;
}

LoopSizer::LoopSizer(Session& session, const LoopProgram& program, double budget, bool steady)
    : m_session(session),
      m_program(program),
      m_memory(session.analysis, session.structure, program, session.device.gpu()),
      m_sizer(steady ? BatchSizer::steady(session.options.batch, budget) : BatchSizer(session.options.batch, budget))
{}

std::int64_t LoopSizer::next(std::int64_t first, std::int64_t left, const std::int64_t* order)
{
    if (const auto& tile = m_program.gpuTile) return std::min(*tile - first % *tile, left);
    const std::lock_guard lock(m_mutex);
    return m_sizer.next(left, [&](std::int64_t n) { return bytes({first, n, order}); });
}

std::int64_t LoopSizer::rows(const Destinations& destinations)
{
    const std::lock_guard lock(m_mutex);
    return destinations.count + ownedRows(destinations);
}

std::int64_t LoopSizer::within(const Destinations& destinations, double rows)
{
    std::int64_t low = 1, high = destinations.count;
    while (low < high) {
        const std::int64_t middle = low + (high - low + 1) / 2;
        const auto asked = static_cast<double>(this->rows({destinations.first, middle, destinations.order}));
        if (asked <= rows) low = middle;
        else high = middle - 1;
    }
    return low;
}

double LoopSizer::predicted(const Destinations& destinations)
{
    const std::lock_guard lock(m_mutex);
    return bytes(destinations);
}

void LoopSizer::observe(double predicted, double actual)
{
    const std::lock_guard lock(m_mutex);
    m_sizer.observe(predicted, actual);
}

bool LoopSizer::backOff(std::int64_t destinations)
{
    if (m_program.gpuTile) return false;
    const std::lock_guard lock(m_mutex);
    return m_sizer.backOff(destinations);
}

BatchRows LoopSizer::learn(Block& block)
{
    const std::lock_guard lock(m_mutex);
    const Destinations& destinations = block.destinations();
    BatchRows rows;
    double asking = 0, fresh = 0;
    std::set<ir::SpaceId> types;
    for (const plan::FrontierSource& s : m_program.loop->frontier) {
        if (!m_program.frontiers.contains(s.type)) continue;
        asking += static_cast<double>(block.count(analysis::owned(m_session.analysis, s.space, s.owner)));
        types.insert(s.type);
    }
    for (ir::SpaceId t : types) {
        const std::int64_t frontier = block.count({RowKind::Frontier, t, {}});
        rows.frontier += frontier;
        fresh += static_cast<double>(t == m_program.loop->destination ? frontier - destinations.count : frontier);
    }
    rows.edges = ownedRows(destinations);
    if (asking > 0 && !m_session.steady())
        m_frontierRatio = std::clamp(fresh / asking * 1.1, m_frontierRatio * 0.7, 1.0);
    return rows;
}

}  // namespace hopscope::executor
