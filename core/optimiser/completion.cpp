#include "optimiser/completion.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace hopscope::optimiser {

namespace {

constexpr double impossible = std::numeric_limits<double>::infinity();

std::vector<int> indices(const std::vector<NodeId>& ids)
{
    std::vector<int> list;
    for (const NodeId v : ids) list.push_back(v.index);
    return list;
}

}  // namespace

Completion::Completion(const Graph& g)
    : m_g(g),
      m_cells(g.types + 1),
      m_readCost(static_cast<std::size_t>(g.count) * m_cells),
      m_computeCost(m_readCost.size()),
      m_need(m_readCost.size(), No),
      m_waiting(static_cast<std::size_t>(g.count) / 64 + 1, 0),
      m_memo(m_readCost.size(), 0),
      m_memoStamp(m_readCost.size(), 0),
      m_relationStamp(g.in.relations.size(), 0)
{
    for (int v = 0; v < g.count; ++v) {
        m_type.push_back(g.type(v));
        m_src.push_back(indices(g.node(v).src));
        m_loc.push_back(indices(g.node(v).loc));
        m_kindHop.push_back(g.isHop(v));
        m_kindInput.push_back(g.isInput(v));
        m_anyCut.push_back(!g.cuts[v].empty());
        m_readCost[at(v, 0)] = g.node(v).readD;
        m_computeCost[at(v, 0)] = g.node(v).computeD;
        for (int t = 0; t < g.types; ++t) {
            m_readCost[at(v, 1 + t)] = g.readF(v, t);
            m_computeCost[at(v, 1 + t)] = g.computeF(v, t);
        }
    }
}

Choice Completion::plain() const
{
    Choice choice{.stored = std::vector<std::uint8_t>(m_type.size(), 0),
                  .hopStage = m_g.earliest,
                  .writeStage = std::vector<int>(m_type.size(), -1)};
    for (int v = 0; v < m_g.count; ++v) choice.stored[v] = m_g.mustWrite(v) && m_g.mayStore[v];
    return choice;
}

void Completion::placeStages(const Choice& choice)
{
    m_stage.assign(m_type.size(), 0);
    m_natural.assign(m_type.size(), m_g.first);
    for (const int v : m_g.order) {
        if (m_kindInput[v]) continue;
        if (m_kindHop[v]) {
            m_stage[v] = m_natural[v] = choice.hopStage[v];
            continue;
        }
        for (const int u : m_loc[v]) {
            const bool cut = m_anyCut[v] && !m_kindInput[u] && m_g.isCut(u, v);
            m_natural[v] = std::max(m_natural[v], cut ? m_stage[u] + 1 : m_natural[u]);
        }
        m_stage[v] = std::max(m_natural[v], choice.writeStage[v]);
    }
}

void Completion::listRoots(const Choice& choice)
{
    const auto stages = static_cast<std::size_t>(m_g.last) + 1;
    m_hops.resize(stages);
    m_writes.resize(stages);
    for (auto* const lists : {&m_hops, &m_writes})
        for (auto& list : *lists) list.clear();
    for (int v = 0; v < m_g.count; ++v) {
        if (m_kindInput[v]) continue;
        const int s = m_stage[v];
        if (s < 0 || s > m_g.last) {
            if (m_kindHop[v] || m_pending[v]) m_stuck = v;
            continue;
        }
        if (m_kindHop[v]) m_hops[s].push_back(v);
        if (choice.stored[v]) m_writes[s].push_back(v);
        else if (m_pending[v]) m_stuck = v;
    }
}

double Completion::evaluate(const Choice& choice, Cells* cells, const Cells* like)
{
    m_choice = &choice;
    m_out = cells;
    m_like = like;
    m_cost = 0;
    m_stuck = -1;
    m_computed.assign(m_type.size(), 0);
    m_lastRead.assign(m_type.size(), -1);
    m_written.clear();
    m_pending.assign(m_type.size(), 0);
    for (int v = 0; v < m_g.count; ++v) m_pending[v] = m_g.mustWrite(v);
    placeStages(choice);
    listRoots(choice);
    for (int s = m_g.last; s >= m_g.first && m_stuck < 0; --s)
        if (!stage(s)) break;
    return m_stuck < 0 ? m_cost : impossible;
}

void Completion::want(int v, int cell, Need need)
{
    std::uint8_t& state = m_need[at(v, cell)];
    state = std::max<std::uint8_t>(state, need);
    const int position = m_g.position[v];
    std::uint64_t& word = m_waiting[static_cast<std::size_t>(position) >> 6];
    const std::uint64_t bit = std::uint64_t{1} << (position & 63);
    if (word & bit) return;
    word |= bit;
    m_touched.push_back(v);
}

bool Completion::stage(int s)
{
    m_s = s;
    ++m_stamp;
    m_used = false;
    for (const int v : m_hops[s]) want(v, 0, Wanted);
    for (const int v : m_writes[s])
        if (m_pending[v]) {
            want(v, 0, Wanted);
            m_cost += m_g.node(v).write;
            m_written.push_back(v);
            if (m_out != nullptr) m_out->write[m_out->at.d(v, s)] = 1;
        }
    bool good = true;
    for (std::size_t word = m_waiting.size(); word-- > 0;)
        while (m_waiting[word] != 0) {
            const int bit = 63 - std::countl_zero(m_waiting[word]);
            m_waiting[word] &= ~(std::uint64_t{1} << bit);
            if (good) good = visit(m_g.order[word * 64 + static_cast<std::size_t>(bit)]);
        }
    for (const int v : m_touched) std::fill_n(m_need.begin() + static_cast<std::ptrdiff_t>(at(v, 0)), m_cells, No);
    m_touched.clear();
    if (good) sharedCosts(s);
    return good;
}

void Completion::sharedCosts(int s)
{
    if (m_used) m_cost += m_g.in.stageCost;
    for (const int v : m_hops[s]) {
        const RelationId r = m_g.node(v).relation;
        if (!r.valid() || m_relationStamp[r.at()] == m_stamp) continue;
        m_relationStamp[r.at()] = m_stamp;
        m_cost += m_g.in.relations[r.at()].structureCost;
    }
}

bool Completion::visit(int v)
{
    const int mine = own(v);
    std::uint8_t& needD = m_need[at(v, 0)];
    const bool hopHere = m_kindHop[v] && m_stage[v] == m_s;
    // One copy on the node's own frontier also serves D, but not a hop of this stage.
    if (m_need[at(v, mine)] != No && needD != No && !hopHere) {
        m_need[at(v, mine)] = std::max(m_need[at(v, mine)], needD);
        needD = No;
    }
    for (int cell = 0; cell < m_cells; ++cell)
        if (m_need[at(v, cell)] != No && !provide(v, cell, static_cast<Need>(m_need[at(v, cell)]))) {
            m_stuck = blocker(v, cell);
            return false;
        }
    return true;
}

// The first value in the chain of operands of v that is neither available nor stored.
int Completion::blocker(int v, int cell)
{
    for (int next = v; next >= 0;) {
        v = next;
        next = -1;
        if (!computable(v, cell) || m_need[at(v, cell)] == MustRead) break;
        for (const int u : m_loc[v]) {
            const bool cut = m_anyCut[v] && m_g.isCut(u, v);
            if (cut && !readable(u, cell)) return u;
            if (!cut && estimate(u, cell) == impossible) next = u;
        }
    }
    return v;
}

bool Completion::readable(int v, int cell) const
{
    if (cell > 0 && m_s == 0) return false;
    return m_kindInput[v] || (m_choice->stored[v] && m_stage[v] < m_s);
}

bool Completion::computable(int v, int cell) const
{
    if (m_kindInput[v]) return false;
    if (m_kindHop[v]) return cell == 0 && m_stage[v] == m_s;
    return cell == 0 || (m_g.frontier[v] && m_s > 0);
}

bool Completion::there(int v, int cell) const
{
    return m_need[at(v, cell)] != No || (cell == 0 && m_need[at(v, own(v))] != No);
}

bool Completion::provide(int v, int cell, Need need)
{
    const double reading = readable(v, cell) ? readCost(v, cell) : impossible;
    if (need == MustRead) {
        read(v, cell, reading);
        return reading < impossible;
    }
    if (m_kindHop[v] && m_stage[v] == m_s) return cell == 0 && compute(v, cell);
    const double computing = computable(v, cell) ? estimateComputing(v, cell, impossible) : impossible;
    if (reading == impossible && computing == impossible) return false;
    const bool known = computing < impossible && reading < impossible && (wasRead(v, cell) || wasComputed(v, cell));
    if (known ? !wasRead(v, cell) : computing < reading) return compute(v, cell);
    read(v, cell, reading);
    return true;
}

bool Completion::wasRead(int v, int cell) const
{
    if (m_like == nullptr) return false;
    return cell == 0 ? m_like->readD[m_like->at.d(v, m_s)] : m_like->readF[m_like->at.f(v, cell - 1, m_s)];
}

bool Completion::wasComputed(int v, int cell) const
{
    if (m_like == nullptr) return false;
    return cell == 0 ? m_like->computeD[m_like->at.d(v, m_s)] : m_like->computeF[m_like->at.f(v, cell - 1, m_s)];
}

void Completion::read(int v, int cell, double cost)
{
    m_cost += cost;
    m_pending[v] = 1;
    m_lastRead[v] = std::max(m_lastRead[v], m_s);
    if (m_out == nullptr) return;
    if (cell == 0) m_out->readD[m_out->at.d(v, m_s)] = 1;
    else m_out->readF[m_out->at.f(v, cell - 1, m_s)] = 1;
}

bool Completion::compute(int v, int cell)
{
    m_cost += computeCost(v, cell);
    m_used = true;
    if (++m_computed[v] > 1 && m_g.once[v]) return false;
    wantOperands(v, cell);
    if (m_out == nullptr) return true;
    if (cell == 0) m_out->computeD[m_out->at.d(v, m_s)] = 1;
    else m_out->computeF[m_out->at.f(v, cell - 1, m_s)] = 1;
    return true;
}

void Completion::wantOperands(int v, int cell)
{
    for (const int u : m_src[v]) want(u, own(v), m_anyCut[v] && m_g.isCut(u, v) ? MustRead : Wanted);
    for (const int u : m_loc[v]) want(u, cell, m_anyCut[v] && m_g.isCut(u, v) ? MustRead : Wanted);
}

double Completion::peak() const
{
    std::vector<double> change(static_cast<std::size_t>(m_g.last) + 2, 0);
    for (const int v : m_written) {
        const int end = m_g.output[v] ? m_g.last : std::max(m_stage[v], m_lastRead[v]);
        change[m_stage[v]] += m_g.node(v).size;
        change[end + 1] -= m_g.node(v).size;
    }
    double most = 0, now = 0;
    for (const double c : change) most = std::max(most, now += c);
    return most;
}

// The cost of making v available there, as if nothing else needed the values computed for it: exact for trees.
double Completion::estimate(int v, int cell)
{
    if (there(v, cell)) return 0;
    const std::size_t place = at(v, cell);
    if (m_memoStamp[place] == m_stamp) return m_memo[place];
    double cost = readable(v, cell) ? readCost(v, cell) : impossible;
    if (m_kindHop[v]) cost = m_stage[v] == m_s && cell == 0 ? 0 : cost;
    else if (computable(v, cell)) cost = std::min(cost, estimateComputing(v, cell, cost));
    m_memoStamp[place] = m_stamp;
    m_memo[place] = cost;
    return cost;
}

double Completion::estimateComputing(int v, int cell, double limit)
{
    double cost = computeCost(v, cell);
    for (const int u : m_loc[v]) {
        if (cost > limit) break;
        const bool cut = m_anyCut[v] && m_g.isCut(u, v);
        if (!cut) cost += estimate(u, cell);
        else if (!there(u, cell)) cost += readable(u, cell) ? readCost(u, cell) : impossible;
    }
    return cost;
}

}  // namespace hopscope::optimiser
