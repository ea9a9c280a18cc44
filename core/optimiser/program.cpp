#include "optimiser/program.h"

#include <algorithm>

namespace hopscope::optimiser {

Program::Program(const Graph& g, const ProgramOptions& options)
    : m_g(g),
      m_options(options),
      m_at(g),
      m_xD(m_at.sizeD(), -1),
      m_rD(m_at.sizeD(), -1),
      m_w(m_at.sizeD(), -1),
      m_q(m_at.sizeD(), -1),
      m_xF(m_at.sizeF(), -1),
      m_rF(m_at.sizeF(), -1),
      m_structure(g.in.relations.size() * static_cast<std::size_t>(m_at.stages), -1),
      m_stageUsed(static_cast<std::size_t>(m_at.stages), -1)
{
    if (options.recompute >= 0) m_allowed = limitedCells(g, options.recompute);
    for (const int v : g.order) addColumns(v);
    for (const int v : g.order) addRows(v);
    sharedCosts();
    if (hasBudget()) budget();
    m_allowed.reset();
}

int Program::add(std::vector<int>& table, std::vector<std::uint8_t> Cells::*kind, std::size_t place, int stage,
                 double cost)
{
    const bool included = m_options.include != nullptr && (m_options.include->*kind)[place];
    const bool outside = stage < m_options.from || stage > m_options.to;
    const bool allowed = !outside && (!m_allowed || ((*m_allowed).*kind)[place]);
    if (!included && !allowed) return -1;
    table[place] = m_problem.addColumn(m_options.minimisePeak ? 0 : cost, outside ? 1 : 0, 1, true);
    m_keys.push_back({.table = kind, .place = place, .stage = stage});
    return table[place];
}

int Program::addDerived(double cost, int stage)
{
    m_keys.push_back({.table = nullptr, .place = 0, .stage = stage});
    return m_problem.addColumn(m_options.minimisePeak ? 0 : cost, 0, 1, false);
}

void Program::addColumns(int v)
{
    if (m_g.isInput(v)) return addInput(v);
    addComputations(v);
    addStores(v);
}

void Program::addInput(int v)
{
    for (int s = m_g.first; s <= m_g.lastD[v]; ++s) add(m_rD, &Cells::readD, m_at.d(v, s), s, m_g.node(v).readD);
    for (int t = 0; t < m_g.types; ++t)
        for (int s = 1; s <= m_g.lastFrontier(v, t); ++s) add(m_rF, &Cells::readF, m_at.f(v, t, s), s, m_g.readF(v, t));
}

void Program::addComputations(int v)
{
    const int from = std::max(m_g.earliest[v], m_g.first), to = m_g.isHop(v) ? m_g.latest[v] : m_g.lastUse(v);
    for (int s = from; s <= to; ++s) add(m_xD, &Cells::computeD, m_at.d(v, s), s, m_g.node(v).computeD);
    if (!m_g.frontier[v]) return;
    for (int t = 0; t < m_g.types; ++t)
        for (int s = m_g.earliestF[v]; s <= m_g.lastFrontier(v, t); ++s)
            add(m_xF, &Cells::computeF, m_at.f(v, t, s), s, m_g.computeF(v, t));
}

void Program::addStores(int v)
{
    if (!m_g.mayStore[v]) return;
    const int to = m_g.mustWrite(v) ? m_g.last : m_g.lastUse(v) - 1;
    for (int s = std::max(m_g.earliest[v], m_g.first); s <= to; ++s)
        if (m_xD[m_at.d(v, s)] >= 0 || m_xF[m_at.f(v, m_g.type(v), s)] >= 0)
            add(m_w, &Cells::write, m_at.d(v, s), s, m_g.node(v).write);
    for (int s = m_g.firstRead(v); s <= m_g.lastD[v]; ++s) add(m_rD, &Cells::readD, m_at.d(v, s), s, m_g.node(v).readD);
    if (m_g.node(v).rows == RowKind::Edge) return;
    for (int t = 0; t < m_g.types; ++t)
        for (int s = std::max(1, m_g.firstRead(v)); s <= m_g.lastFrontier(v, t); ++s)
            add(m_rF, &Cells::readF, m_at.f(v, t, s), s, m_g.readF(v, t));
}

void Program::terms(const std::vector<int>& columns, double value)
{
    for (const int c : columns)
        if (c >= 0) m_problem.term(c, value);
}

void Program::onD(int u, int s)
{
    const int own = m_g.type(u);
    terms({m_xD[m_at.d(u, s)], m_rD[m_at.d(u, s)], m_xF[m_at.f(u, own, s)], m_rF[m_at.f(u, own, s)]}, -1);
}

// Values computed on D have their operands in the stage; operands on cut edges are read.
void Program::availability(int v, int s)
{
    const int x = m_xD[m_at.d(v, s)], own = m_g.type(v);
    if (x < 0) return;
    for (const NodeId u : m_g.node(v).src) {
        m_problem.term(x, 1);
        if (!m_g.isCut(u.index, v)) terms({m_xF[m_at.f(u.index, own, s)]}, -1);
        terms({m_rF[m_at.f(u.index, own, s)]}, -1);
        m_problem.closeRow(-solver::infinity, 0);
    }
    for (const NodeId u : m_g.node(v).loc) {
        m_problem.term(x, 1);
        if (!m_g.isCut(u.index, v)) onD(u.index, s);
        else terms({m_rD[m_at.d(u.index, s)], m_rF[m_at.f(u.index, m_g.type(u.index), s)]}, -1);
        m_problem.closeRow(-solver::infinity, 0);
    }
}

void Program::availabilityF(int v, int t, int s)
{
    const int x = m_xF[m_at.f(v, t, s)];
    if (x < 0) return;
    for (const NodeId u : m_g.node(v).loc) {
        m_problem.term(x, 1);
        if (!m_g.isCut(u.index, v)) terms({m_xF[m_at.f(u.index, t, s)]}, -1);
        terms({m_rF[m_at.f(u.index, t, s)]}, -1);
        m_problem.closeRow(-solver::infinity, 0);
    }
}

void Program::writes(int v, int s)
{
    const int w = m_w[m_at.d(v, s)];
    if (w < 0) return;
    m_problem.term(w, 1);
    terms({m_xD[m_at.d(v, s)], m_xF[m_at.f(v, m_g.type(v), s)]}, -1);
    m_problem.closeRow(-solver::infinity, 0);
}

void Program::readRow(const std::vector<int>& columns, int v, int s)
{
    if (std::ranges::all_of(columns, [](int c) { return c < 0; })) return;
    terms(columns, 1);
    if (hasBudget()) m_problem.term(resident(v, s), -1);
    else
        for (int q = m_g.first; q < s; ++q) terms({m_w[m_at.d(v, q)]}, -1);
    m_problem.closeRow(-solver::infinity, 0);
}

// A read has an earlier write; one copy on the node's own frontier also serves D.
void Program::reads(int v, int s)
{
    const int own = m_g.type(v);
    readRow({m_rD[m_at.d(v, s)], m_rF[m_at.f(v, own, s)]}, v, s);
    for (int t = 0; t < m_g.types; ++t)
        if (t != own) readRow({m_rF[m_at.f(v, t, s)]}, v, s);
}

void Program::addRows(int v)
{
    if (!m_g.isInput(v))
        for (int s = m_g.first; s <= m_g.last; ++s) {
            availability(v, s);
            for (int t = 0; t < m_g.types; ++t) availabilityF(v, t, s);
            writes(v, s);
            reads(v, s);
        }
    totals(v);
}

// Rows for events that happen exactly once, at least once or at most once over all stages.
void Program::totals(int v)
{
    const auto sum = [&](const std::vector<int>& tableD, const std::vector<int>* tableF) {
        for (int s = 0; s < m_at.stages; ++s) terms({tableD[m_at.d(v, s)]}, 1);
        if (tableF == nullptr) return;
        for (std::size_t i = m_at.f(v, 0, 0); i < m_at.f(v, 0, 0) + m_at.types * m_at.stages; ++i)
            terms({(*tableF)[i]}, 1);
    };
    const bool live = m_g.lastUse(v) != Graph::never;
    if (m_g.isInput(v)) {
        sum(m_rD, &m_rF);
        return m_problem.closeRow(live ? 1 : 0, solver::infinity);
    }
    const bool hop = m_g.isHop(v);
    sum(m_xD, &m_xF);
    m_problem.closeRow(hop || live ? 1 : 0, hop || m_g.once[v] ? 1 : solver::infinity);
    if (!m_g.mustWrite(v) && !hasBudget()) return;
    sum(m_w, nullptr);
    m_problem.closeRow(m_g.mustWrite(v) ? 1 : 0, 1);
}

void Program::sharedCosts()
{
    structure();
    if (m_g.in.stageCost > 0) stageCosts();
}

void Program::structure()
{
    for (int v = 0; v < m_g.count; ++v) {
        const RelationId r = m_g.node(v).relation;
        if (!r.valid() || m_g.in.relations[r.at()].structureCost <= 0) continue;
        for (int s = 1; s <= m_g.last; ++s) {
            const int x = m_xD[m_at.d(v, s)];
            if (x < 0) continue;
            int& loaded = m_structure[r.at() * static_cast<std::size_t>(m_at.stages) + s];
            if (loaded < 0) loaded = addDerived(m_g.in.relations[r.at()].structureCost, s);
            m_problem.term(x, 1);
            m_problem.term(loaded, -1);
            m_problem.closeRow(-solver::infinity, 0);
        }
    }
}

void Program::stageCosts()
{
    const std::size_t columns = m_keys.size();
    for (std::size_t c = 0; c < columns; ++c) {
        if (m_keys[c].table != &Cells::computeD && m_keys[c].table != &Cells::computeF) continue;
        int& used = m_stageUsed[static_cast<std::size_t>(m_keys[c].stage)];
        if (used < 0) used = addDerived(m_g.in.stageCost, m_keys[c].stage);
        m_problem.term(static_cast<int>(c), 1);
        m_problem.term(used, -1);
        m_problem.closeRow(-solver::infinity, 0);
    }
}

int Program::resident(int v, int s)
{
    int& column = m_q[m_at.d(v, s)];
    if (column < 0) column = addDerived(0, s);
    return column;
}

// A value stays until its last read, an output for ever: resident[s] <= resident[s - 1] + written[s - 1].
void Program::residency(int v)
{
    int from = m_at.stages, to = m_g.output[v] ? m_g.last : -1;
    for (int s = 0; s < m_at.stages; ++s) {
        if (m_w[m_at.d(v, s)] >= 0) from = std::min(from, s + 1);
        if (m_q[m_at.d(v, s)] >= 0) to = std::max(to, s);
    }
    for (int s = from; s <= to; ++s) {
        m_problem.term(resident(v, s), 1);
        terms({m_q[m_at.d(v, s - 1)], m_w[m_at.d(v, s - 1)]}, -1);
        m_problem.closeRow(m_g.output[v] ? 0 : -solver::infinity, 0);
    }
    for (int s = 0; s < std::min(from, m_at.stages); ++s)
        if (m_q[m_at.d(v, s)] >= 0) m_problem.upper[m_q[m_at.d(v, s)]] = 0;
}

void Program::budget()
{
    for (int v = 0; v < m_g.count; ++v)
        if (!m_g.isInput(v)) residency(v);
    if (m_options.minimisePeak) {
        m_peak = addDerived(0, -1);
        m_problem.cost[m_peak] = 1;
        m_problem.upper[m_peak] = solver::infinity;
    }
    for (int s = m_g.first; s <= m_g.last; ++s) {
        for (int v = 0; v < m_g.count; ++v)
            if (m_g.node(v).size > 0) terms({m_q[m_at.d(v, s)], m_w[m_at.d(v, s)]}, m_g.node(v).size);
        if (m_peak >= 0) m_problem.term(m_peak, -1);
        m_problem.closeRow(-solver::infinity, m_peak >= 0 ? 0 : *m_g.in.hostBudget);
    }
}

std::vector<double> Program::values(const Cells& cells) const
{
    std::vector<double> all(m_keys.size(), 0);
    for (std::size_t c = 0; c < m_keys.size(); ++c)
        if (m_keys[c].table != nullptr) all[c] = (cells.*(m_keys[c].table))[m_keys[c].place];
    deriveValues(cells, all);
    return all;
}

void Program::deriveValues(const Cells& cells, std::vector<double>& values) const
{
    const auto set = [&](int column, bool on) {
        if (column >= 0 && on) values[column] = 1;
    };
    for (int v = 0; v < m_g.count; ++v) {
        int lastRead = m_g.output[v] ? m_g.last : -1;
        bool stored = false;
        for (int s = 0; s < m_at.stages; ++s) {
            bool read = cells.readD[m_at.d(v, s)], computed = cells.computeD[m_at.d(v, s)];
            for (int t = 0; t < m_g.types; ++t) {
                read = read || cells.readF[m_at.f(v, t, s)];
                computed = computed || cells.computeF[m_at.f(v, t, s)];
            }
            if (read) lastRead = std::max(lastRead, s);
            set(m_stageUsed[s], computed);
            const RelationId r = m_g.node(v).relation;
            if (r.valid()) set(m_structure[r.at() * static_cast<std::size_t>(m_at.stages) + s], computed);
        }
        for (int s = 0; s < m_at.stages; ++s) {
            set(m_q[m_at.d(v, s)], stored && s <= lastRead);
            stored = stored || cells.write[m_at.d(v, s)];
        }
    }
}

Cells Program::cells(const std::vector<double>& values) const
{
    Cells cells(m_g);
    for (std::size_t c = 0; c < m_keys.size(); ++c)
        if (m_keys[c].table != nullptr && values[c] > 0.5) (cells.*(m_keys[c].table))[m_keys[c].place] = 1;
    return cells;
}

}  // namespace hopscope::optimiser
