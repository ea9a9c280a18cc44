#include "optimiser/graph.h"

#include <algorithm>
#include <functional>
#include <queue>

namespace hopscope::optimiser {

namespace {

bool contains(const std::vector<NodeId>& ids, int v)
{
    return std::ranges::any_of(ids, [v](NodeId id) { return id.index == v; });
}

}  // namespace

Graph::Graph(const Instance& instance)
    : Bounds(instance),
      in(instance),
      count(static_cast<int>(instance.nodes.size())),
      types(static_cast<int>(instance.types.size())),
      last(instance.stages),
      first(instance.allowStage0 ? 0 : 1)
{
    connect();
    sort();
    findEarliest();
    findLatest();
    findUses();
}

int Graph::lastUse(int v) const
{
    int use = lastD[v];
    for (int t = 0; t < types; ++t) use = std::max(use, lastFrontier(v, t));
    return use;
}

bool Graph::usesSrc(int v, int u) const { return contains(node(v).src, u); }
bool Graph::usesLoc(int v, int u) const { return contains(node(v).loc, u); }

bool Graph::impossible() const
{
    for (int v = 0; v < count; ++v) {
        if (isHop(v) && earliest[v] > latest[v]) return true;
        if (mustWrite(v) && (!mayStore[v] || std::max(earliest[v], first) > last)) return true;
    }
    return false;
}

void Graph::connect()
{
    const auto size = static_cast<std::size_t>(count);
    consumers.resize(size);
    operands.resize(size);
    frontier.assign(size, 0);
    for (int v = 0; v < count; ++v) {
        for (const NodeId u : node(v).src) addOnce(operands[v], u.index);
        for (const NodeId u : node(v).loc) addOnce(operands[v], u.index);
        for (const int u : operands[v]) consumers[u].push_back(v);
        const auto nodeRows = [this](NodeId u) { return in.node(u).rows == RowKind::Node; };
        frontier[v] =
            node(v).kind == NodeKind::Op && node(v).rows == RowKind::Node && std::ranges::all_of(node(v).loc, nodeRows);
    }
}

void Graph::sort()
{
    std::vector<int> waiting(static_cast<std::size_t>(count));
    std::priority_queue<int, std::vector<int>, std::greater<>> ready;
    for (int v = 0; v < count; ++v) {
        waiting[v] = static_cast<int>(operands[v].size());
        if (waiting[v] == 0) ready.push(v);
    }
    position.assign(static_cast<std::size_t>(count), 0);
    while (!ready.empty()) {
        const int v = ready.top();
        ready.pop();
        position[v] = static_cast<int>(order.size());
        order.push_back(v);
        for (const int c : consumers[v])
            if (--waiting[c] == 0) ready.push(c);
    }
}

int Graph::firstRead(int v) const { return isInput(v) ? 0 : std::max(earliest[v], first) + 1; }

int Graph::firstOnFrontier(int u, int consumer) const
{
    const int read = std::max(1, firstRead(u));
    const bool mustRead = isInput(u) || !frontier[u] || isCut(u, consumer);
    return mustRead ? read : std::min(read, earliestF[u]);
}

void Graph::findEarliest()
{
    earliest.assign(static_cast<std::size_t>(count), 0);
    earliestF.assign(static_cast<std::size_t>(count), 1);
    for (const int v : order) {
        if (isHop(v)) earliest[v] = std::max(1, stagePin[v]);
        for (const NodeId u : node(v).src) earliest[v] = std::max(earliest[v], firstOnFrontier(u.index, v));
        for (const NodeId u : node(v).loc) {
            const int there = isCut(u.index, v) ? firstRead(u.index) : earliest[u.at()];
            earliest[v] = std::max(earliest[v], there);
            earliestF[v] = std::max(earliestF[v], firstOnFrontier(u.index, v));
        }
    }
}

// Goes back from the last uses: a value is needed on D by a stage, or on frontier rows in one. The latter requires
// less: the value may also be computed there if only the hops behind it are stored before.
void Graph::findLatest()
{
    const auto size = static_cast<std::size_t>(count);
    latest.assign(size, last);
    std::vector<int> byD(size, last), onF(size, last + 1);
    for (std::size_t i = order.size(); i-- > 0;) {
        const int v = order[i];
        for (const int c : consumers[v]) {
            const int earlier = isCut(v, c) ? 1 : 0;
            const auto stored = [&](int stage) { byD[v] = std::min(byD[v], stage); };
            const auto there = [&](int stage) {
                if (earlier) stored(stage - 1);
                else onF[v] = std::min(onF[v], stage);
            };
            if (isHop(c)) {
                if (usesSrc(c, v)) there(latest[c]);
                if (usesLoc(c, v)) stored(latest[c] - earlier);
                continue;
            }
            stored(byD[c] - earlier);
            if (frontier[c]) there(onF[c]);
            else stored(onF[c] - 1 - earlier);
        }
        latest[v] = std::min(byD[v], onF[v] - 1);
        if (stagePin[v] != never) latest[v] = std::min(latest[v], stagePin[v]);
    }
}

void Graph::useOf(int v, int consumer)
{
    const auto lift = [this, v](int t, int stage) {
        int& use = lastF[static_cast<std::size_t>(v) * types + t];
        use = std::max(use, stage);
    };
    if (isHop(consumer)) {
        if (usesSrc(consumer, v)) lift(type(consumer), latest[consumer]);
        if (usesLoc(consumer, v)) lastD[v] = std::max(lastD[v], latest[consumer]);
        return;
    }
    lastD[v] = std::max(lastD[v], lastUse(consumer));
    if (!frontier[consumer]) return;
    for (int t = 0; t < types; ++t) lift(t, lastFrontier(consumer, t));
}

void Graph::findUses()
{
    lastD.assign(static_cast<std::size_t>(count), never);
    lastF.assign(static_cast<std::size_t>(count) * types, never);
    for (std::size_t i = order.size(); i-- > 0;) {
        const int v = order[i];
        if (mustWrite(v)) lastD[v] = last;
        for (const int c : consumers[v]) useOf(v, c);
    }
}

}  // namespace hopscope::optimiser
