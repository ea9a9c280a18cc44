#include <algorithm>

#include "optimiser/program.h"

namespace hopscope::optimiser {

namespace {

// Passes demands from the outputs to the inputs, each with the recomputation that is still allowed above it.
class Limiter {
public:
    Limiter(const Graph& g, int recompute)
        : m_g(g),
          m_limit(recompute),
          m_allowed(g),
          m_at(g),
          m_left(m_at.sizeD(), -1),
          m_leftF(m_at.sizeF(), -1)
    {}

    Cells run()
    {
        std::ranges::fill(m_allowed.write, 1);
        for (std::size_t i = m_g.order.size(); i-- > 0;)
            if (!m_g.isInput(m_g.order[i])) visit(m_g.order[i]);
        return std::move(m_allowed);
    }

private:
    static void raise(int& value, int to) { value = std::max(value, to); }

    void visit(int v)
    {
        if (m_g.isHop(v)) {
            for (int s = m_g.earliest[v]; s <= m_g.latest[v]; ++s) computedD(v, s, m_limit);
            return;
        }
        const int first = std::max(m_g.earliest[v], m_g.first);
        for (int s = m_g.first; s <= m_g.last; ++s) {
            const bool home = s == first || (m_g.earliest[v] == 0 && s == 1) || (m_g.mustWrite(v) && s == m_g.last);
            const int left = home ? m_limit : m_left[m_at.d(v, s)];
            if (left >= 0) computedD(v, s, left);
            for (int t = 0; t < m_g.types; ++t)
                if (m_leftF[m_at.f(v, t, s)] >= 0) computedF(v, t, s, m_leftF[m_at.f(v, t, s)]);
        }
    }

    // A value that is never stored has to be recomputed: that is not counted.
    [[nodiscard]] int above(int u, int left) const { return m_g.mayStore[u] ? left - 1 : left; }

    void computedD(int v, int s, int left)
    {
        m_allowed.computeD[m_at.d(v, s)] = 1;
        for (const NodeId u : m_g.node(v).src) wantF(u.index, m_g.type(v), s, m_limit);
        for (const NodeId u : m_g.node(v).loc) {
            m_allowed.readD[m_at.d(u.index, s)] = 1;
            raise(m_left[m_at.d(u.index, s)], s > m_g.earliest[u.at()] ? above(u.index, left) : m_limit);
        }
    }

    void computedF(int v, int t, int s, int left)
    {
        m_allowed.computeF[m_at.f(v, t, s)] = 1;
        for (const NodeId u : m_g.node(v).loc) wantF(u.index, t, s, above(u.index, left));
    }

    void wantF(int u, int t, int s, int left)
    {
        m_allowed.readF[m_at.f(u, t, s)] = 1;
        raise(m_leftF[m_at.f(u, t, s)], left);
    }

    const Graph& m_g;
    int m_limit;
    Cells m_allowed;
    CellIndex m_at;
    std::vector<int> m_left, m_leftF;
};

}  // namespace

Cells limitedCells(const Graph& g, int recompute) { return Limiter(g, recompute).run(); }

}  // namespace hopscope::optimiser
