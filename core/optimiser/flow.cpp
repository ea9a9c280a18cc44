#include "optimiser/flow.h"

#include <algorithm>

namespace hopscope::optimiser {

namespace {
constexpr double nothing = 1e-9;
}

void Flow::addEdge(int from, int to, double capacity)
{
    m_arcs.push_back({.to = to, .next = m_first[from], .left = capacity});
    m_first[from] = static_cast<int>(m_arcs.size()) - 1;
    m_arcs.push_back({.to = from, .next = m_first[to], .left = 0});
    m_first[to] = static_cast<int>(m_arcs.size()) - 1;
}

bool Flow::findLevels(int source, int sink)
{
    m_level.assign(m_first.size(), -1);
    std::vector<int> queue{source};
    m_level[source] = 0;
    for (std::size_t head = 0; head < queue.size(); ++head)
        for (int a = m_first[queue[head]]; a >= 0; a = m_arcs[a].next)
            if (m_arcs[a].left > nothing && m_level[m_arcs[a].to] < 0) {
                m_level[m_arcs[a].to] = m_level[queue[head]] + 1;
                queue.push_back(m_arcs[a].to);
            }
    return m_level[sink] >= 0;
}

// One path of the level graph, walked without recursion: paths can be as long as the network.
double Flow::augment(int source, int sink)
{
    std::vector<int> path;
    for (int v = source; v != sink;) {
        int& a = m_current[v];
        while (a >= 0 && !(m_arcs[a].left > nothing && m_level[m_arcs[a].to] == m_level[v] + 1)) a = m_arcs[a].next;
        if (a >= 0) {
            path.push_back(a);
            v = m_arcs[a].to;
            continue;
        }
        if (path.empty()) return 0;
        m_level[v] = -1;  // a dead end
        v = m_arcs[path.back() ^ 1].to;
        path.pop_back();
    }
    double flow = unlimited;
    for (const int a : path) flow = std::min(flow, m_arcs[a].left);
    for (const int a : path) {
        m_arcs[a].left -= flow;
        m_arcs[a ^ 1].left += flow;
    }
    return flow;
}

void Flow::findSinkSide(int sink)
{
    m_reachesSink.assign(m_first.size(), 0);
    std::vector<int> queue{sink};
    m_reachesSink[sink] = 1;
    for (std::size_t head = 0; head < queue.size(); ++head)
        for (int a = m_first[queue[head]]; a >= 0; a = m_arcs[a].next)
            if (m_arcs[a ^ 1].left > nothing && !m_reachesSink[m_arcs[a].to]) {
                m_reachesSink[m_arcs[a].to] = 1;
                queue.push_back(m_arcs[a].to);
            }
}

double Flow::minimumCut(int source, int sink)
{
    double total = 0;
    while (total < unlimited && findLevels(source, sink)) {
        m_current = m_first;
        while (const double flow = augment(source, sink)) {
            total += flow;
            if (total >= unlimited) break;
        }
    }
    findSinkSide(sink);
    return total;
}

}  // namespace hopscope::optimiser
