#include "executor/loop_sizer.h"

#include <algorithm>
#include <set>

namespace hopscope::executor {

using ir::RowClass;
using ir::RowKind;

LoopSizer::LoopSizer(Session& session, const LoopProgram& program, double budget)
    : m_session(session),
      m_program(program),
      m_block(session.structure, session.analysis, *program.loop),
      m_model(program, session.device.gpu()),
      m_sizer(session.options.batch, budget)
{}

std::int64_t LoopSizer::next(std::int64_t first, std::int64_t left, const std::int64_t* order)
{
    const std::lock_guard lock(m_mutex);
    return m_sizer.next(left, [&](std::int64_t n) { return bytes({first, n, order}); });
}

double LoopSizer::predicted(const Destinations& destinations)
{
    const std::lock_guard lock(m_mutex);
    return bytes(destinations);
}

double LoopSizer::rowsPredicted(const RowClass& rows, const Destinations& destinations)
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

// Registers; and where row numbers are made in the same memory, some 24 bytes per owned row.
double LoopSizer::bytes(const Destinations& destinations)
{
    const double registers = m_model.peak([&](const RowClass& rows) { return rowsPredicted(rows, destinations); });
    if (m_session.device.gpu()) return registers;
    return registers + 24.0 * static_cast<double>(ownedRows(destinations)) +
           16.0 * static_cast<double>(destinations.count);
}

std::int64_t LoopSizer::ownedRows(const Destinations& destinations)
{
    std::int64_t rows = 0;
    for (const RowClass& owned : m_program.classes) rows += m_block.countFor(owned, destinations);
    return rows;
}

void LoopSizer::observe(double predicted, double actual)
{
    const std::lock_guard lock(m_mutex);
    m_sizer.observe(predicted, actual);
}

bool LoopSizer::backOff(std::int64_t destinations)
{
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
    if (asking > 0) m_frontierRatio = std::clamp(fresh / asking * 1.1, m_frontierRatio * 0.7, 1.0);
    return rows;
}

}  // namespace hopscope::executor
