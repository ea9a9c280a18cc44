#pragma once

// Private to the optimiser: computes minimum cuts by Dinic's algorithm on flat arrays (E. A. Dinic, 1970). O(V^2 E),
// far less on these shallow networks.

#include <vector>

namespace hopscope::optimiser {

class Flow {
public:
    static constexpr double unlimited = 1e18;

    explicit Flow(int vertices) : m_first(static_cast<std::size_t>(vertices), -1) {}

    void addEdge(int from, int to, double capacity);
    // Returns the value of a minimum cut; at least `unlimited` if no cut has finite capacity.
    double minimumCut(int source, int sink);
    // True if a vertex is on the source's side of the minimum cut that is nearest to the sink.
    [[nodiscard]] bool onSourceSide(int vertex) const { return !m_reachesSink[vertex]; }

private:
    bool findLevels(int source, int sink);
    double augment(int source, int sink);
    void findSinkSide(int sink);

    struct Arc {
        int to, next;
        double left;
    };
    std::vector<Arc> m_arcs;  // an arc and its reverse are adjacent
    std::vector<int> m_first, m_level, m_current;
    std::vector<unsigned char> m_reachesSink;
};

}  // namespace hopscope::optimiser
