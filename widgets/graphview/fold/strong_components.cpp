#include "graphview/fold/strong_components.h"

#include <algorithm>

namespace hopscope::graphview {

namespace {

class Tarjan {
public:
    Tarjan(int nodes, const std::vector<std::pair<int, int>>& edges)
        : m_out(nodes, edges),
          m_order(nodes, -1),
          m_low(nodes, 0),
          m_component(nodes, -1)
    {}
    std::vector<int> run()
    {
        for (int node = 0; node < static_cast<int>(m_order.size()); ++node)
            if (m_order[node] < 0) visit(node);
        return std::move(m_component);
    }

private:
    struct Call {
        int node, next;
    };
    void enter(int node)
    {
        m_order[node] = m_low[node] = m_time++;
        m_stack.push_back(node);
        m_calls.push_back({node, m_out.begin[node]});
    }
    void leave(int node)
    {
        m_calls.pop_back();
        if (!m_calls.empty()) m_low[m_calls.back().node] = std::min(m_low[m_calls.back().node], m_low[node]);
        if (m_low[node] != m_order[node]) return;
        for (int member = -1; member != node;) {
            member = m_stack.back();
            m_stack.pop_back();
            m_component[member] = m_components;
        }
        ++m_components;
    }
    void visit(int root)
    {
        enter(root);
        while (!m_calls.empty()) {
            Call& call = m_calls.back();
            if (call.next == m_out.begin[call.node + 1]) {
                leave(call.node);
                continue;
            }
            const int target = m_out.items[call.next++];
            if (m_order[target] < 0) enter(target);
            else if (m_component[target] < 0) m_low[call.node] = std::min(m_low[call.node], m_order[target]);
        }
    }

    Successors m_out;
    std::vector<int> m_order, m_low, m_component, m_stack;
    std::vector<Call> m_calls;
    int m_time = 0, m_components = 0;
};

}  // namespace

Successors::Successors(int nodes, const std::vector<std::pair<int, int>>& edges) : begin(nodes + 1), items(edges.size())
{
    for (const auto& edge : edges) ++begin[edge.first + 1];
    for (int node = 0; node < nodes; ++node) begin[node + 1] += begin[node];
    std::vector<int> next(begin.begin(), begin.end() - 1);
    for (const auto& [from, to] : edges) items[next[from]++] = to;
}

std::vector<int> strongComponents(int nodes, const std::vector<std::pair<int, int>>& edges)
{
    return Tarjan(nodes, edges).run();
}

std::vector<int> topologicalOrder(const Successors& out)
{
    const auto nodes = static_cast<int>(out.begin.size()) - 1;
    std::vector<int> missing(nodes), order;
    order.reserve(nodes);
    for (const int target : out.items) ++missing[target];
    for (int node = 0; node < nodes; ++node)
        if (missing[node] == 0) order.push_back(node);
    for (std::size_t i = 0; i < order.size(); ++i)
        for (int at = out.begin[order[i]]; at < out.begin[order[i] + 1]; ++at)
            if (--missing[out.items[at]] == 0) order.push_back(out.items[at]);
    return order;
}

}  // namespace hopscope::graphview
