#include "optimiser/fuse.h"

#include <algorithm>

#include "optimiser/graph.h"

namespace hopscope::optimiser {

namespace {

bool uses(const std::vector<NodeId>& list, int v) { return std::ranges::find(list, NodeId(v)) != list.end(); }

// `list` with `added` in the place of v.
std::vector<NodeId> replaced(std::vector<NodeId> list, int v, const std::vector<NodeId>& added)
{
    std::erase(list, NodeId(v));
    for (const NodeId q : added)
        if (std::ranges::find(list, q) == list.end()) list.push_back(q);
    return list;
}

class Fuser {
public:
    Fuser(const Instance& in, const std::vector<std::uint8_t>& kept)
        : m_g(in),
          m_kept(kept),
          m_nodes(in.nodes),
          m_consumers(m_g.consumers),
          m_alive(in.nodes.size(), 1)
    {}

    // Fuses values into their consumers. Returns the nodes that remain.
    const std::vector<std::uint8_t>& run()
    {
        for (const int v : m_g.order) {
            const bool candidate = !m_g.isInput(v) && m_nodes[v].noCheckpoint && !m_kept[v] && !m_g.output[v];
            if (!candidate || m_consumers[v].size() != 1) continue;
            const int c = m_consumers[v][0];
            if (!m_kept[c] && join(v, c)) remove(v, c);
        }
        return m_alive;
    }
    [[nodiscard]] const std::vector<Node>& nodes() const { return m_nodes; }

private:
    bool join(int v, int c)
    {
        if (m_nodes[v].kind == NodeKind::Hop) return hopIntoOp(v, c);
        return m_nodes[c].kind == NodeKind::Hop ? opIntoHop(v, c) : opIntoOp(v, c);
    }

    bool opIntoOp(int v, int c)
    {
        Node &from = m_nodes[v], &to = m_nodes[c];
        if (from.rows != to.rows || from.type != to.type) return false;
        to.computeD += from.computeD;
        addFrontier(from, to);
        to.loc = replaced(to.loc, v, from.loc);
        return true;
    }

    void addFrontier(const Node& from, Node& to) const
    {
        if (from.computeF.empty()) return;
        to.computeF.resize(m_g.in.types.size(), 0);
        for (std::size_t t = 0; t < to.computeF.size(); ++t) to.computeF[t] += from.computeF[t];
    }

    bool opIntoHop(int v, int c)
    {
        Node &from = m_nodes[v], &to = m_nodes[c];
        const bool gathered = uses(to.src, v);
        if (!gathered && from.type != to.type) return false;
        if (gathered && !gatherable(v, c)) return false;
        to.computeD += gathered ? computeCostF(from, to.type) : from.computeD;
        if (gathered) {
            to.src = replaced(to.src, v, from.loc);
            to.loc = replaced(to.loc, v, {});
        } else to.loc = replaced(to.loc, v, from.loc);
        return true;
    }

    [[nodiscard]] bool gatherable(int v, int c) const
    {
        const auto nodeRows = [this](NodeId q) { return m_nodes[q.at()].rows == RowKind::Node; };
        const bool both = uses(m_nodes[c].loc, v);
        return m_nodes[v].rows == RowKind::Node && std::ranges::all_of(m_nodes[v].loc, nodeRows) &&
               (!both || m_nodes[v].type == m_nodes[c].type);
    }

    bool hopIntoOp(int v, int c)
    {
        Node &from = m_nodes[v], &to = m_nodes[c];
        if (to.kind != NodeKind::Op || to.loc != std::vector{NodeId(v)} || from.type != to.type) return false;
        to.kind = NodeKind::Hop;
        to.src = from.src;
        to.loc = from.loc;
        to.computeD += from.computeD;
        to.relation = from.relation;
        return true;
    }

    void remove(int v, int c)
    {
        m_alive[v] = 0;
        for (const auto& list : {m_nodes[v].src, m_nodes[v].loc})
            for (const NodeId q : list) {
                std::vector<int>& consumers = m_consumers[q.at()];
                std::erase(consumers, v);
                if (std::ranges::find(consumers, c) == consumers.end()) consumers.push_back(c);
            }
    }

    Graph m_g;
    const std::vector<std::uint8_t>& m_kept;
    std::vector<Node> m_nodes;
    std::vector<std::vector<int>> m_consumers;
    std::vector<std::uint8_t> m_alive;
};

void renumber(std::vector<NodeId>& list, const std::vector<int>& place)
{
    for (NodeId& v : list) v = NodeId(place[v.at()]);
}

}  // namespace

void fuse(Reduced& reduced, const std::vector<std::uint8_t>& kept)
{
    Fuser fuser(reduced.instance, kept);
    const std::vector<std::uint8_t>& alive = fuser.run();
    std::vector<int> place(alive.size(), -1), original;
    std::vector<Node> nodes;
    for (std::size_t v = 0; v < alive.size(); ++v) {
        if (!alive[v]) continue;
        place[v] = static_cast<int>(nodes.size());
        nodes.push_back(fuser.nodes()[v]);
        original.push_back(reduced.original[v]);
    }
    for (Node& node : nodes) renumber(node.src, place), renumber(node.loc, place);
    Instance& in = reduced.instance;
    in.nodes = std::move(nodes);
    renumber(in.outputs, place);
    for (Pin& pin : in.pins) {
        pin.node = NodeId(place[pin.node.at()]);
        if (pin.consumer.valid()) pin.consumer = NodeId(place[pin.consumer.at()]);
    }
    for (Edge& e : in.requiredReads) e = {NodeId(place[e.from.at()]), NodeId(place[e.to.at()])};
    for (int& v : reduced.image) v = v < 0 ? -1 : place[v];
    reduced.original = std::move(original);
}

}  // namespace hopscope::optimiser
