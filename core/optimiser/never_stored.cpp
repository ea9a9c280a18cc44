#include "optimiser/never_stored.h"

#include <algorithm>
#include <functional>
#include <queue>

#include "optimiser/graph.h"

namespace hopscope::optimiser {

namespace {

constexpr double rounding = 1e-12;
constexpr std::size_t largestRegion = 64;
constexpr int mostDominators = 6;

class Rules {
public:
    Rules(const Graph& g, const std::vector<std::uint8_t>& kept)
        : m_g(g),
          m_kept(kept),
          m_never(static_cast<std::size_t>(g.count), 0),
          m_member(static_cast<std::size_t>(g.count), -1)
    {}

    std::vector<std::uint8_t> run()
    {
        findPostDominators();
        forEach([this](int v) { return isPostDominated(v); });
        if (!m_g.in.hostBudget) forEach([this](int v) { return isInterior(v); });
        forEach([this](int v) { return isCheapToRedo(v); });
        return m_never;
    }

private:
    template <class Rule>
    void forEach(const Rule& rule)
    {
        for (const int v : m_g.order)
            if (!m_g.isInput(v) && !fixed(v) && m_g.mayStore[v] && !m_never[v] && rule(v)) m_never[v] = 1;
    }

    [[nodiscard]] bool fixed(int v) const { return m_kept[v] || m_g.output[v]; }

    // The first node that every path from v to an output goes through, or -1.
    void findPostDominators()
    {
        m_next.assign(static_cast<std::size_t>(m_g.count), -1);
        for (std::size_t i = m_g.order.size(); i-- > 0;) {
            const int v = m_g.order[i];
            if (m_g.output[v] || m_g.consumers[v].empty()) continue;
            int common = m_g.consumers[v][0];
            for (const int c : m_g.consumers[v]) common = meet(common, c);
            m_next[v] = common;
        }
    }

    [[nodiscard]] int meet(int a, int b) const
    {
        const auto place = [this](int v) { return v < 0 ? m_g.count : m_g.position[v]; };
        while (a != b)
            if (place(a) < place(b)) a = m_next[a];
            else b = m_next[b];
        return a;
    }

    [[nodiscard]] bool alike(int a, int b) const
    {
        return m_g.type(a) == m_g.type(b) && m_g.node(a).rows == m_g.node(b).rows;
    }

    [[nodiscard]] bool wanted(int v, int t) const { return m_g.lastFrontier(v, t) != Graph::never; }

    // Whether u is nowhere more expensive to store and to read than v.
    [[nodiscard]] bool costsNoMore(int u, int v) const
    {
        const Node &a = m_g.node(u), &b = m_g.node(v);
        if (!m_g.mayStore[u] || !alike(u, v)) return false;
        if (a.write > b.write + rounding || a.readD > b.readD + rounding || a.size > b.size + rounding) return false;
        for (int t = 0; t < m_g.types; ++t)
            if ((wanted(u, t) || wanted(v, t)) && m_g.readF(u, t) > m_g.readF(v, t) + rounding) return false;
        return true;
    }

    // An op of a region: as v, and computing it where v is stored costs no more than where v is used.
    [[nodiscard]] bool fitsRegion(int c, int v) const
    {
        if (m_g.node(c).kind != NodeKind::Op || !alike(c, v)) return false;
        for (int t = 0; t < m_g.types; ++t)
            if (m_g.frontier[c] && wanted(c, t) && m_g.computeF(c, t) < m_g.node(c).computeD - rounding) return false;
        return true;
    }

    [[nodiscard]] bool isPostDominated(int v)
    {
        int u = m_next[v];
        for (int tries = 0; u >= 0 && tries < mostDominators && !m_kept[u]; ++tries, u = m_next[u]) {
            if (!collectDown(v, u)) return false;
            if (costsNoMore(u, v)) return true;
        }
        return false;
    }

    // The nodes between v and u: ops without fixed ones, fed by v and each other alone.
    bool collectDown(int v, int u)
    {
        ++m_stamp;
        m_region.clear();
        std::vector<int> stack{v};
        while (!stack.empty()) {
            const int a = stack.back();
            stack.pop_back();
            for (const int c : m_g.consumers[a]) {
                if (m_member[c] == m_stamp) continue;
                if (!fitsRegion(c, v) || (c != u && fixed(c)) || m_region.size() >= largestRegion) return false;
                join(c);
                if (c != u) stack.push_back(c);
            }
        }
        return std::ranges::all_of(m_region, [&](int r) {
            return std::ranges::all_of(m_g.operands[r], [&](int q) { return q == v || m_member[q] == m_stamp; });
        });
    }

    void join(int c)
    {
        m_member[c] = m_stamp;
        m_region.push_back(c);
    }

    [[nodiscard]] bool isInterior(int v)
    {
        const int u = m_next[v];
        return u >= 0 && !m_kept[u] && fitsRegion(u, v) && costsNoMore(u, v) && collectUp(v, u);
    }

    // Finds the region above u, up to the one value that feeds it. Whether v lies inside and nothing else leaves it.
    bool collectUp(int v, int u)
    {
        ++m_stamp;
        m_region.clear();
        join(u);
        std::vector<std::uint8_t>& queued = m_queued;
        queued.assign(static_cast<std::size_t>(m_g.count), 0);
        std::priority_queue<int> open;  // by position: the latest first
        const auto push = [&](int q) {
            if (!queued[q]) open.push(m_g.position[q]);
            queued[q] = 1;
        };
        for (const int q : m_g.operands[u]) push(q);
        bool seen = false;
        while (!open.empty() && !(open.size() == 1 && seen)) {
            const int q = m_g.order[static_cast<std::size_t>(open.top())];
            open.pop();
            if (!fitsRegion(q, u) || fixed(q) || m_region.size() >= largestRegion) return false;
            join(q);
            seen = seen || q == v;
            for (const int z : m_g.operands[q]) push(z);
        }
        return seen && open.size() == 1 && staysInside(u);
    }

    [[nodiscard]] bool staysInside(int u) const
    {
        return std::ranges::all_of(m_region, [&](int r) {
            return r == u || std::ranges::all_of(m_g.consumers[r], [&](int c) { return m_member[c] == m_stamp; });
        });
    }

    // Whether computing v from its operands costs no more than reading it, wherever that may be.
    [[nodiscard]] bool isCheapToRedo(int v) const
    {
        const Node& node = m_g.node(v);
        if (node.kind != NodeKind::Op || node.rows != RowKind::Node) return false;
        const auto fits = [&](NodeId q) { return !m_kept[q.at()] && alike(q.index, v); };
        if (!std::ranges::all_of(node.loc, fits)) return false;
        if (!redoIsCheap(v)) return false;
        if (std::ranges::all_of(node.loc, [&](NodeId q) { return m_g.isInput(q.index); })) return true;
        if (node.loc.size() != 1) return false;
        const int p = node.loc[0].index;
        const Node& from = m_g.node(p);
        return m_g.mayStore[p] && !m_never[p] && from.write <= node.write + rounding &&
               from.size <= node.size + rounding;
    }

    [[nodiscard]] bool redoIsCheap(int v) const
    {
        const Node& node = m_g.node(v);
        double costD = node.computeD;
        for (const NodeId q : node.loc) costD += m_g.in.node(q).readD;
        if (costD > node.readD + rounding) return false;
        for (int t = 0; t < m_g.types; ++t) {
            if (!wanted(v, t)) continue;
            double cost = m_g.computeF(v, t);
            for (const NodeId q : node.loc) cost += m_g.readF(q.index, t);
            if (cost > m_g.readF(v, t) + rounding) return false;
        }
        return true;
    }

    const Graph& m_g;
    const std::vector<std::uint8_t>& m_kept;
    std::vector<std::uint8_t> m_never, m_queued;
    std::vector<int> m_next, m_member, m_region;
    int m_stamp = 0;
};

}  // namespace

void markNeverStored(Instance& instance, const std::vector<std::uint8_t>& kept)
{
    const std::vector<std::uint8_t> never = Rules(Graph(instance), kept).run();
    for (std::size_t v = 0; v < never.size(); ++v)
        if (never[v]) instance.nodes[v].noCheckpoint = true;
}

}  // namespace hopscope::optimiser
