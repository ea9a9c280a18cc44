#pragma once

// The cheapest cut by trying all of them: an oracle for the minimum cut that lessons and rules show. Knows nothing of flows.

#include <algorithm>
#include <limits>
#include <set>

#include "optimiser/instance.h"

namespace hopscope::test {

class CheapestCut {
public:
    explicit CheapestCut(const optimiser::Instance& in) : m_in(in)
    {
        for (std::size_t v = 0; v < in.nodes.size(); ++v)
            for (const std::vector<optimiser::NodeId>* operands : {&in.nodes[v].src, &in.nodes[v].loc})
                for (const optimiser::NodeId u : *operands)
                    if (in.node(u).kind != optimiser::NodeKind::Input) m_edges.insert({u.at(), v});
    }

    [[nodiscard]] std::size_t edges() const { return m_edges.size(); }

    // Over all sets of edges that are read back, where every path between two hops has one of them.
    [[nodiscard]] double cost() const
    {
        return costWith([](std::size_t) { return true; });
    }

    // The same where only some values may be stored.
    template <class MayStore>
    [[nodiscard]] double costWith(const MayStore& mayStore) const
    {
        const std::vector<Edge> all(m_edges.begin(), m_edges.end());
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t chosen = 0; chosen < std::size_t{1} << all.size(); ++chosen) {
            std::set<Edge> read;
            bool allowed = true;
            for (std::size_t e = 0; e < all.size(); ++e)
                if ((chosen >> e & 1U) != 0) {
                    read.insert(all[e]);
                    allowed = allowed && mayStore(all[e].first);
                }
            if (!allowed) continue;
            const double cost = costOf(read);
            if (cost < least && cuts(read)) least = cost;
        }
        return least;
    }

private:
    using Edge = std::pair<std::size_t, std::size_t>;

    [[nodiscard]] bool isHop(std::size_t v) const { return m_in.nodes[v].kind == optimiser::NodeKind::Hop; }

    [[nodiscard]] double costOf(const std::set<Edge>& read) const
    {
        double cost = 0;
        std::set<std::size_t> stored;
        for (const auto& [u, v] : read) {
            stored.insert(u);
            cost += readCost(u, v);
        }
        for (const std::size_t v : stored) cost += m_in.nodes[v].write;
        return cost;
    }

    // The dearest frontier on which the consumer needs the value; on its own rows if there is none.
    [[nodiscard]] double readCost(std::size_t u, std::size_t v) const
    {
        std::set<std::size_t> types;
        if (gathers(v, u)) types.insert(m_in.nodes[v].type.at());
        else if (fitsFrontier(v)) addFrontiers(v, types);
        double most = -1;
        for (const std::size_t t : types)
            most = std::max(most, readCostF(m_in.nodes[u], optimiser::TypeId(static_cast<int>(t))));
        return most < 0 ? m_in.nodes[u].readD : most;
    }

    [[nodiscard]] bool gathers(std::size_t hop, std::size_t operand) const
    {
        for (const optimiser::NodeId u : m_in.nodes[hop].src)
            if (u.at() == operand) return true;
        return false;
    }

    // An operator that can be computed there: rows of edges are there for the batch's own nodes only.
    [[nodiscard]] bool fitsFrontier(std::size_t v) const
    {
        const optimiser::Node& node = m_in.nodes[v];
        const auto onNodes = [&](optimiser::NodeId u) { return m_in.node(u).rows == optimiser::RowKind::Node; };
        return node.kind == optimiser::NodeKind::Op && node.rows == optimiser::RowKind::Node &&
               std::ranges::all_of(node.loc, onNodes);
    }

    // Of the hops that gather what is computed from the operator's result.
    void addFrontiers(std::size_t v, std::set<std::size_t>& types) const
    {
        for (const auto& [from, to] : m_edges) {
            if (from != v) continue;
            if (gathers(to, v)) types.insert(m_in.nodes[to].type.at());
            else if (fitsFrontier(to)) addFrontiers(to, types);
        }
    }

    // No path leads from a hop to another one, or to itself, along edges that are not read.
    [[nodiscard]] bool cuts(const std::set<Edge>& read) const
    {
        std::set<std::size_t> reached;
        for (std::size_t v = 0; v < m_in.nodes.size(); ++v)
            if (isHop(v)) reached.insert(v);
        for (bool grown = true; grown;) {
            grown = false;
            for (const Edge& edge : m_edges) {
                if (!reached.contains(edge.first) || read.contains(edge)) continue;
                if (isHop(edge.second)) return false;
                grown = reached.insert(edge.second).second || grown;
            }
        }
        return true;
    }

    const optimiser::Instance& m_in;
    std::set<Edge> m_edges;
};

}  // namespace hopscope::test
