#include "optimiser/cells.h"

#include <algorithm>

#include "optimiser/evaluate.h"

namespace hopscope::optimiser {

namespace {

int imageOf(const std::vector<int>& image, NodeId v) { return image.empty() ? v.index : image[v.at()]; }

// Goes through the stages from the last to the first and, in each, through the values from the outputs to the inputs.
class Realiser {
public:
    Realiser(const Graph& g, const Cells& cells, const std::vector<int>& image)
        : m_g(g),
          m_cells(cells),
          m_image(image),
          m_pending(static_cast<std::size_t>(g.count), 0),
          m_needD(static_cast<std::size_t>(g.count)),
          m_needF(static_cast<std::size_t>(g.count) * g.types),
          m_writes(static_cast<std::size_t>(g.last) + 1),
          m_hops(m_writes.size())
    {
        for (int v = 0; v < g.count; ++v) m_pending[v] = g.mustWrite(v);
        for (std::size_t i = g.order.size(); i-- > 0;) list(g.order[i]);
    }

    base::Result<Placement> run()
    {
        for (int s = m_g.last; s >= m_g.first; --s) stage(s);
        if (m_missing >= 0)
            return base::fail(base::ErrorCode::Internal, "no decision for '" + m_g.node(m_missing).name + "'");
        Placement placement;
        placement.stages.assign(m_stages.rbegin(), m_stages.rend());
        const base::Result<Cost> cost = evaluate(m_g.in, placement, {true, false});
        if (!cost) return base::forward(cost);
        placement.cost = *cost;
        placement.hostPeak = hostPeak(m_g.in, placement);
        return placement;
    }

private:
    static constexpr std::uint8_t wanted = 1, mustRead = 2;

    [[nodiscard]] int image(int v) const { return m_image.empty() ? v : m_image[v]; }
    [[nodiscard]] std::size_t cell(int v, int t) const { return static_cast<std::size_t>(v) * m_g.types + t; }

    void stage(int s)
    {
        m_s = s;
        m_out = StagePlacement();
        m_out.stage = s;
        std::fill(m_needD.begin(), m_needD.end(), 0);
        std::fill(m_needF.begin(), m_needF.end(), 0);
        roots();
        for (std::size_t i = m_g.order.size(); i-- > 0;) visit(m_g.order[i]);
        if (m_out.hops.empty() && m_out.computeD.empty() && m_out.computeF.empty()) return;
        for (auto* const list : {&m_out.hops, &m_out.computeD, &m_out.readD, &m_out.written})
            std::reverse(list->begin(), list->end());
        for (auto* const list : {&m_out.computeF, &m_out.readF}) std::reverse(list->begin(), list->end());
        m_stages.push_back(std::move(m_out));
    }

    // Lists the stages in which v may be written or is a hop. Done once: the cells of a node are adjacent, those of a
    // stage are not.
    void list(int v)
    {
        const int r = image(v);
        if (r < 0) return;
        for (int s = m_g.first; s <= m_g.last; ++s) {
            if (m_cells.write[m_cells.at.d(r, s)]) m_writes[s].push_back(v);
            if (m_g.isHop(v) && m_cells.computeD[m_cells.at.d(r, s)]) m_hops[s].push_back(v);
        }
    }

    // The hops of this stage and the values written in it.
    void roots()
    {
        for (const int v : m_writes[m_s]) {
            if (!m_pending[v]) continue;
            m_pending[v] = 0;
            m_needD[v] = std::max(m_needD[v], wanted);
            m_out.written.emplace_back(v);
        }
        for (const int v : m_hops[m_s]) m_needD[v] = std::max(m_needD[v], wanted);
    }

    void visit(int v)
    {
        const int own = m_g.type(v);
        if (m_needD[v] && !m_needF[cell(v, own)] && onlyOnFrontier(v, own)) m_needF[cell(v, own)] = 1;
        for (int t = 0; t < m_g.types; ++t)
            if (m_needF[cell(v, t)]) provideF(v, t);
        // One copy on the node's own frontier also serves D, but not a consumer that has to read.
        const bool served = m_needF[cell(v, own)] && (m_needD[v] != mustRead || readsF(v, own));
        if (m_needD[v] && !served) provideD(v);
    }

    // Whether the decisions place v on its own frontier only, which also serves D.
    [[nodiscard]] bool onlyOnFrontier(int v, int own) const
    {
        const int r = image(v);
        if (r < 0) return false;
        const std::size_t d = m_cells.at.d(r, m_s), f = m_cells.at.f(r, own, m_s);
        return !m_cells.computeD[d] && !m_cells.readD[d] && (m_cells.computeF[f] || m_cells.readF[f]);
    }

    [[nodiscard]] bool readsF(int v, int t) const
    {
        const int r = image(v);
        return r >= 0 && m_cells.readF[m_cells.at.f(r, t, m_s)];
    }

    void provideF(int v, int t)
    {
        const int r = image(v);
        if (readsF(v, t)) {
            m_out.readF.push_back({NodeId(v), TypeId(t)});
            m_pending[v] = 1;
            return;
        }
        if (r >= 0 && !m_cells.computeF[m_cells.at.f(r, t, m_s)]) m_missing = v;
        m_out.computeF.push_back({NodeId(v), TypeId(t)});
        for (const NodeId u : m_g.node(v).loc) m_needF[cell(u.index, t)] = 1;
    }

    void provideD(int v)
    {
        const int r = image(v);
        if (r >= 0 && m_cells.readD[m_cells.at.d(r, m_s)]) {
            m_out.readD.emplace_back(v);
            m_pending[v] = 1;
            return;
        }
        if ((r >= 0 && !m_cells.computeD[m_cells.at.d(r, m_s)]) || m_g.isInput(v)) m_missing = v;
        (m_g.isHop(v) ? m_out.hops : m_out.computeD).emplace_back(v);
        for (const NodeId u : m_g.node(v).src) m_needF[cell(u.index, m_g.type(v))] = 1;
        for (const NodeId u : m_g.node(v).loc)
            m_needD[u.at()] = std::max(m_needD[u.at()], m_g.isCut(u.index, v) ? mustRead : wanted);
    }

    const Graph& m_g;
    const Cells& m_cells;
    const std::vector<int>& m_image;
    std::vector<std::uint8_t> m_pending, m_needD, m_needF;
    std::vector<std::vector<int>> m_writes, m_hops;  // by stage, consumers first
    std::vector<StagePlacement> m_stages;            // the last one first
    StagePlacement m_out;
    int m_s = 0, m_missing = -1;
};

}  // namespace

Cells cellsOf(const Graph& g, const Placement& placement, const std::vector<int>& image)
{
    Cells cells(g);
    for (const StagePlacement& p : placement.stages) {
        const int s = p.stage;
        if (s < g.first || s > g.last) continue;
        const auto mark = [&](std::vector<std::uint8_t>& table, const std::vector<NodeId>& list) {
            for (const NodeId v : list)
                if (const int r = imageOf(image, v); r >= 0) table[cells.at.d(r, s)] = 1;
        };
        const auto markF = [&](std::vector<std::uint8_t>& table, const std::vector<OnFrontier>& list) {
            for (const OnFrontier& c : list)
                if (const int r = imageOf(image, c.node); r >= 0) table[cells.at.f(r, c.type.index, s)] = 1;
        };
        mark(cells.computeD, p.hops);
        mark(cells.computeD, p.computeD);
        mark(cells.readD, p.readD);
        mark(cells.write, p.written);
        markF(cells.computeF, p.computeF);
        markF(cells.readF, p.readF);
    }
    return cells;
}

base::Result<Placement> realise(const Graph& g, const Cells& cells, const std::vector<int>& image)
{
    return Realiser(g, cells, image).run();
}

}  // namespace hopscope::optimiser
