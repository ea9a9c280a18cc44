#include "optimiser/baseline.h"

#include <algorithm>
#include <cassert>

#include "optimiser/cells.h"
#include "optimiser/evaluate.h"

namespace hopscope::optimiser {

namespace {

// Moves a cut up from its edge, as long as the node has a single operand that is neither an input nor a hop and whose
// consumers all have the same label.
void pullUp(const Graph& g, std::vector<int>& label, int from)
{
    for (int v = from; g.operands[v].size() == 1;) {
        const int u = g.operands[v][0];
        const auto differs = [&](int c) { return label[c] != label[from]; };
        if (g.isInput(u) || g.isHop(u) || std::ranges::any_of(g.consumers[u], differs)) return;
        label[u] = label[from];
        v = u;
    }
}

void applySourceRule(const Graph& g, std::vector<int>& label)
{
    for (const int v : g.order) {
        if (g.isInput(v)) continue;
        for (const int u : g.operands[v])
            if (label[u] != label[v] && !g.isInput(u)) pullUp(g, label, v);
    }
}

// Collects the demands of a labelling, from the outputs to the inputs: a value used in its own stage is computed there,
// one used in a later stage is read.
class Labelled {
public:
    Labelled(const Graph& g, const std::vector<int>& label)
        : m_g(g),
          m_label(label),
          m_cells(g),
          m_wantD(static_cast<std::size_t>(g.count), 0),
          m_wantF(static_cast<std::size_t>(g.count) * g.types, 0)
    {}

    // False where a value is needed on frontier rows on which it cannot be computed, or before its stage.
    bool run()
    {
        for (int v = 0; v < m_g.count; ++v)
            if (m_g.output[v]) m_wantD[v] = m_cells.write[m_cells.at.d(v, m_label[v])] = 1;
        for (std::size_t i = m_g.order.size(); i-- > 0;) {
            const int v = m_g.order[i];
            if (!m_g.isInput(v) && !visit(v)) return false;
        }
        return true;
    }
    [[nodiscard]] const Cells& cells() const { return m_cells; }

private:
    [[nodiscard]] std::size_t f(int v, int t) const { return static_cast<std::size_t>(v) * m_g.types + t; }

    [[nodiscard]] bool usedLater(int v) const
    {
        return std::ranges::any_of(m_g.consumers[v], [&](int c) { return m_label[c] > m_label[v]; });
    }

    bool visit(int v)
    {
        const int s = m_label[v];
        bool onFrontier = false;
        for (int t = 0; t < m_g.types; ++t) {
            if (!m_wantF[f(v, t)]) continue;
            onFrontier = true;
            if (!m_g.frontier[v] || s == 0) return false;
            m_cells.computeF[m_cells.at.f(v, t, s)] = 1;
            for (const NodeId u : m_g.node(v).loc)
                if (!useF(v, u.index, t)) return false;
        }
        const bool wantD = m_g.isHop(v) || m_wantD[v] || usedLater(v) || !onFrontier;
        return !wantD || m_wantF[f(v, m_g.type(v))] || computeD(v, s);
    }

    bool computeD(int v, int s)
    {
        m_cells.computeD[m_cells.at.d(v, s)] = 1;
        for (const NodeId u : m_g.node(v).src)
            if (!useF(v, u.index, m_g.type(v))) return false;
        for (const NodeId u : m_g.node(v).loc)
            if (!useD(v, u.index)) return false;
        return true;
    }

    [[nodiscard]] bool far(int v, int u) const { return m_g.isInput(u) || m_label[u] < m_label[v]; }

    bool useF(int v, int u, int t)
    {
        if (!far(v, u)) {
            m_wantF[f(u, t)] = 1;
            return m_label[u] == m_label[v];
        }
        m_cells.readF[m_cells.at.f(u, t, m_label[v])] = 1;
        store(u);
        return m_label[v] > 0;
    }

    bool useD(int v, int u)
    {
        if (!far(v, u)) {
            m_wantD[u] = 1;
            return m_label[u] == m_label[v];
        }
        m_cells.readD[m_cells.at.d(u, m_label[v])] = 1;
        store(u);
        return true;
    }

    void store(int u)
    {
        if (!m_g.isInput(u)) m_cells.write[m_cells.at.d(u, m_label[u])] = 1;
    }

    const Graph& m_g;
    const std::vector<int>& m_label;
    Cells m_cells;
    std::vector<std::uint8_t> m_wantD, m_wantF;
};

// One copy on the node's own frontier also serves D.
void shareFrontier(const Graph& g, Cells& cells)
{
    for (int v = 0; v < g.count; ++v)
        for (int s = 1; s <= g.last; ++s)
            if (cells.readF[cells.at.f(v, g.type(v), s)]) cells.readD[cells.at.d(v, s)] = 0;
}

// The stage of each value by a rule.
std::vector<int> labelsOf(const Instance& instance, base::Strategy rule)
{
    std::vector<int> label = depths(instance);
    switch (rule) {
    case base::Strategy::SourceRule: applySourceRule(Graph(instance), label); break;
    case base::Strategy::Depth:
    case base::Strategy::Optimal:
    case base::Strategy::LocalSearch: break;
    }
    return label;
}

}  // namespace

base::Result<Placement> baseline(const Instance& instance, base::Strategy rule)
{
    assert(base::isRule(rule));
    Instance plain = instance;
    plain.pins.clear();
    plain.hostBudget.reset();
    std::vector<int> label = labelsOf(plain, rule);
    for (int& l : label) l = std::max(l, plain.allowStage0 ? 0 : 1);
    plain.stages = std::max(plain.stages, *std::ranges::max_element(label));
    const Graph g(plain);
    Labelled labelled(g, label);
    if (!labelled.run())
        return base::fail(base::ErrorCode::Unsupported,
                          "one stage per value does not yield a legal plan for this instance");
    Cells cells = labelled.cells();
    shareFrontier(g, cells);
    return realise(g, cells);
}

}  // namespace hopscope::optimiser
