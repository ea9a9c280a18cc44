#include "executor/loop/loop_sizer.h"

#include <algorithm>
#include <set>

namespace hopscope::executor {

using ir::RowClass;
using ir::RowKind;

namespace {

// Shares of the memory that a sizer gives to batches (batching.cpp): to one of them, and to one whose neighbours are
// copied to and from the device meanwhile.
constexpr double alone = 0.65, besideCopies = 0.85;

// CUDA's allocator takes so much of the device at once for tensors of more than 1 MiB, up to 10 MiB.
constexpr double segmentBytes = 20 << 20, smallTensor = 1 << 20;

std::map<RowClass, double> widestRows(const LoopProgram& program)
{
    std::map<RowClass, double> widest;
    for (const RegisterInfo& r : program.registers) widest[r.rows] = std::max(widest[r.rows], r.bytesPerRow);
    return widest;
}

}  // namespace

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

BesideCopies::BesideCopies(const ResidentChoice& choice, const LoopProgram& program, bool gpu)
{
    if (!gpu) return;
    const auto add = [&](Register r) {
        const RegisterInfo& info = program.registers[static_cast<std::size_t>(r)];
        m_copied[info.rows] += info.bytesPerRow;
    };
    for (const Instruction& i : program.instructions)
        if (i.act == Act::Read && !choice.holds(i.value)) add(i.outputs.at(0));
    for (const Written& w : program.writes)
        if (!choice.onlyHere(w.value)) add(w.from);
}

double BesideCopies::bytes(double batch, const CountOf& count) const
{
    double copied = 0;
    for (const auto& [rows, bytes] : m_copied) copied += bytes * count(rows);
    return std::max(batch, alone / besideCopies * (batch + copied));
}

LoopSizer::LoopSizer(Session& session, const LoopProgram& program, double budget, bool steady)
    : m_session(session),
      m_program(program),
      m_beside(session.choice, program, session.device.gpu()),
      m_memory(session.analysis, session.structure, program, session.device.gpu()),
      m_widest(session.device.gpu() && budget < segmentBytes ? widestRows(program) : std::map<RowClass, double>()),
      m_sizer(steady ? BatchSizer::steady(session.options.batch, budget) : BatchSizer(session.options.batch, budget))
{}

double LoopSizer::withCopies(const Destinations& destinations)
{
    const CountOf count = [&](const RowClass& on) { return m_memory.rows(on, destinations, m_frontierRatio); };
    double bytes = m_beside.bytes(this->bytes(destinations), count);
    for (const auto& [rows, each] : m_widest)
        bytes = std::max(bytes, m_sizer.allowed() * each * count(rows) / smallTensor);
    return bytes;
}

double LoopSizer::fullness(Block& block)
{
    const std::lock_guard lock(m_mutex);
    count(block, 0);  // a batch that turns out too large is not computed
    const CountOf rows = [&](const RowClass& on) { return static_cast<double>(block.count(on)); };
    return m_beside.bytes(m_memory.bytes(rows), rows) / m_sizer.allowed();
}

std::int64_t LoopSizer::next(std::int64_t first, std::int64_t left, const std::int64_t* order)
{
    if (const auto& tile = m_program.gpuTile) return std::min(*tile - first % *tile, left);
    const std::lock_guard lock(m_mutex);
    return m_sizer.next(left, [&](std::int64_t n) { return withCopies({first, n, order}); });
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
    return count(block, m_session.device.gpu() ? std::nullopt : std::optional(0.7 * m_frontierRatio));
}

// `leastRatio` limits how far the rows may change the estimate; without it, they do not.
BatchRows LoopSizer::count(Block& block, std::optional<double> leastRatio)
{
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
    if (leastRatio && asking > 0 && !m_session.steady())
        m_frontierRatio = std::clamp(fresh / asking * 1.1, *leastRatio, 1.0);
    return rows;
}

}  // namespace hopscope::executor
