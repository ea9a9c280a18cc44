#include "optimiser/min_cut_relaxation.h"

#include <algorithm>

#include "optimiser/flow.h"
#include "optimiser/graph.h"

namespace hopscope::optimiser {

namespace {

// The cost of reading u back for its consumer v: on the frontier where v gathers u, or where v itself is needed there.
double edgeCost(const Graph& g, int u, int v)
{
    if (g.isHop(v) && g.usesSrc(v, u)) return g.readF(u, g.type(v));
    double most = -1;
    for (int t = 0; t < g.types; ++t)
        if (g.frontier[v] && g.lastFrontier(v, t) != Graph::never) most = std::max(most, g.readF(u, t));
    return most < 0 ? g.node(u).readD : most;
}

// "Tainted" are values that a hop reaches without an edge that is read back: no hop may use one. Vertex v: its value is
// tainted (a hop is a source for its result and a sink for its operands); count + v: v is stored or tainted.
class RelaxedNetwork {
public:
    explicit RelaxedNetwork(const Graph& g)
        : m_g(g),
          m_flow(2 * g.count + 2),
          m_source(2 * g.count),
          m_sink(2 * g.count + 1)
    {
        for (int v = 0; v < g.count; ++v) {
            if (g.isInput(v) || g.consumers[v].empty()) continue;
            m_flow.addEdge(giver(v), g.count + v, g.node(v).write);
            for (const int c : g.consumers[v]) {
                m_flow.addEdge(g.count + v, taker(c), Flow::unlimited);
                m_flow.addEdge(giver(v), taker(c), edgeCost(g, v, c));
            }
        }
    }

    MinCutRelaxation solve()
    {
        MinCutRelaxation colouring;
        colouring.cost = m_flow.minimumCut(m_source, m_sink);
        for (const int v : m_g.order)
            if (!m_g.isInput(v) && m_flow.onSourceSide(giver(v))) colour(v, colouring);
        return colouring;
    }

private:
    [[nodiscard]] int giver(int v) const { return m_g.isHop(v) ? m_source : v; }
    [[nodiscard]] int taker(int v) const { return m_g.isHop(v) ? m_sink : v; }

    void colour(int v, MinCutRelaxation& colouring) const
    {
        const std::size_t before = colouring.readEdges.size();
        for (const int c : m_g.consumers[v])
            if (!m_flow.onSourceSide(taker(c))) colouring.readEdges.push_back({NodeId(v), NodeId(c)});
        if (colouring.readEdges.size() > before) colouring.storedNodes.emplace_back(v);
    }

    const Graph& m_g;
    Flow m_flow;
    int m_source, m_sink;
};

double cheapestRead(const Graph& g, int v, bool gatheredOnly)
{
    double least = gatheredOnly ? Flow::unlimited : g.node(v).readD;
    for (int t = 0; t < g.types; ++t)
        if (g.lastFrontier(v, t) != Graph::never) least = std::min(least, g.readF(v, t));
    return least;
}

double cheapestComputation(const Graph& g, int v)
{
    double least = g.node(v).computeD;
    for (int t = 0; t < g.types; ++t)
        if (g.frontier[v] && g.lastFrontier(v, t) != Graph::never) least = std::min(least, g.computeF(v, t));
    return least;
}

double inputBound(const Graph& g, int v)
{
    if (g.consumers[v].empty()) return 0;
    const bool gathered = std::ranges::all_of(g.consumers[v], [&](int c) { return g.isHop(c) && !g.usesLoc(c, v); });
    return cheapestRead(g, v, gathered);
}

// A relation is loaded in at least as many stages as its own hops follow each other.
double structureBound(const Graph& g, std::size_t relation)
{
    std::vector<int> chain(static_cast<std::size_t>(g.count), 0);
    int longest = 0;
    for (const int v : g.order) {
        const RelationId r = g.node(v).relation;
        const bool counts = r.valid() && r.at() == relation;
        if (counts) chain[v] = 1;
        for (const NodeId u : g.node(v).loc) chain[v] = std::max(chain[v], chain[u.at()]);
        for (const NodeId u : g.node(v).src) chain[v] = std::max(chain[v], chain[u.at()] + (counts ? 1 : 0));
        longest = std::max(longest, chain[v]);
    }
    return longest * g.in.relations[relation].structureCost;
}

// Between a hop and another one that gathers values derived from it, a value is written and read on frontier rows.
double crossingBound(const Graph& g)
{
    const int source = 2 * g.count, sink = source + 1;
    Flow flow(2 * g.count + 2);
    for (int v = 0; v < g.count; ++v) {
        if (g.isInput(v)) continue;
        if (g.isHop(v)) flow.addEdge(source, v, Flow::unlimited);
        const double read = cheapestRead(g, v, true);
        if (read < Flow::unlimited) flow.addEdge(v, g.count + v, read + (g.mustWrite(v) ? 0 : g.node(v).write));
        for (const int c : g.consumers[v]) {
            if (g.isHop(c) && g.usesSrc(c, v)) flow.addEdge(g.count + v, sink, Flow::unlimited);
            else if (g.frontier[c]) flow.addEdge(g.count + v, c, Flow::unlimited);
        }
    }
    return flow.minimumCut(source, sink);
}

}  // namespace

MinCutRelaxation minCutRelaxation(const Instance& instance)
{
    Instance plain = instance;
    plain.pins.clear();
    const Graph g(plain);
    return RelaxedNetwork(g).solve();
}

double cutBound(const Instance& instance)
{
    const Graph g(instance);
    double bound = crossingBound(g);
    for (int v = 0; v < g.count; ++v) {
        if (g.isInput(v)) bound += inputBound(g, v);
        else if (g.isHop(v) || g.lastUse(v) != Graph::never) bound += cheapestComputation(g, v);
        if (g.mustWrite(v)) bound += g.node(v).write;
    }
    for (std::size_t r = 0; r < g.in.relations.size(); ++r) bound += structureBound(g, r);
    return bound;
}

}  // namespace hopscope::optimiser
