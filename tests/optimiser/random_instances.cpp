#include "random_instances.h"

#include <algorithm>

#include "support/instance_draft.h"

namespace hopscope::test {

namespace {

using namespace optimiser;

class Wild {
public:
    Wild(std::uint64_t seed, int nodes) : m_random(seed), m_nodes(nodes)
    {
        m_in.name = "wild " + std::to_string(seed);
        for (int t = m_random.chance(0.3) ? 2 : 1; t > 0; --t) m_in.types.push_back(t == 2 ? "b" : "a");
        m_strange = m_random.chance(0.15);
        m_in.relations = {{"e", m_random.chance(0.5) ? 0.0 : whole(1, 9)}, {"r", whole(0, 5)}};
        m_in.stageCost = m_random.chance(0.2) ? whole(1, 10) : 0;
        m_in.allowStage0 = m_random.chance(0.6);
    }

    Instance make()
    {
        const int inputs = std::max<int>(static_cast<int>(m_in.types.size()), m_random.chance(0.3) ? 2 : 1);
        for (int i = 0; i < inputs; ++i) addInput(i);
        while (static_cast<int>(m_in.nodes.size()) < m_nodes) m_random.chance(0.4) ? addHop() : addOp();
        chooseOutputs();
        addRequiredRead();
        m_in.stages = std::min(4, neededStages(m_in) + (m_random.chance(0.2) ? 1 : 0));
        return m_in;
    }

private:
    double whole(int low, int high)
    {
        return low + static_cast<double>(m_random.below(static_cast<std::size_t>(high - low + 1)));
    }

    void costs(Node& node)
    {
        const double width = whole(1, 8), factor = whole(2, 4), work = whole(0, 3);
        node.write = node.kind == NodeKind::Input ? 0 : width;
        node.readD = node.size = width;
        node.computeD = node.kind == NodeKind::Op ? work : 0;
        for (std::size_t t = 0; t < m_in.types.size(); ++t) {
            node.readF.push_back(node.rows == RowKind::Edge ? 0 : factor * width + static_cast<double>(t));
            node.computeF.push_back(node.kind != NodeKind::Op || node.rows == RowKind::Edge ? 0 : factor * work);
        }
        if (!m_strange) return;
        node.write = node.kind == NodeKind::Input ? 0 : whole(0, 20);
        node.size = whole(0, 9);
        // The own frontier includes D, so it is never cheaper.
        for (std::size_t t = 0; t < m_in.types.size(); ++t)
            node.readF[t] = whole(0, 20) + (static_cast<int>(t) == node.type.index ? node.readD : 0);
    }

    void push(Node node)
    {
        node.name = "v" + std::to_string(m_in.nodes.size());
        costs(node);
        if (node.kind != NodeKind::Input && m_random.chance(0.05)) node.noCheckpoint = true;
        if (node.kind == NodeKind::Op && m_random.chance(0.05)) node.noRecompute = true;
        m_in.nodes.push_back(std::move(node));
    }

    void addInput(int i)
    {
        Node node;
        node.kind = NodeKind::Input;
        node.type = TypeId(i % static_cast<int>(m_in.types.size()));
        push(std::move(node));
    }

    // A node that fits, preferring the latest; none where nothing does.
    NodeId any(TypeId type, bool anyType, bool nodeRowsOnly)
    {
        for (int attempt = 0; attempt < 20; ++attempt) {
            const std::size_t back = std::min(m_random.below(m_in.nodes.size()), m_random.below(m_in.nodes.size()));
            const std::size_t v = m_in.nodes.size() - 1 - back;
            const Node& node = m_in.nodes[v];
            if ((anyType || node.type == type) && !(nodeRowsOnly && node.rows == RowKind::Edge)) return NodeId(v);
        }
        return {};
    }

    void addOp()
    {
        const NodeId first = any(TypeId(0), true, false);
        Node node;
        node.type = m_in.node(first).type;
        node.rows = m_in.node(first).rows;
        node.loc = {first};
        if (m_random.chance(0.4))
            addOperand(node.loc, any(node.type, false, node.rows == RowKind::Node && m_random.chance(0.9)));
        push(std::move(node));
    }

    void addHop()
    {
        Node node;
        node.kind = NodeKind::Hop;
        node.type = TypeId(m_random.below(m_in.types.size()));
        node.rows = m_random.chance(0.15) ? RowKind::Edge : RowKind::Node;
        addOperand(node.src, any(node.type, true, true));
        if (m_random.chance(0.2)) addOperand(node.src, any(node.type, true, true));
        if (m_random.chance(0.4)) addOperand(node.loc, any(node.type, false, false));
        if (node.src.empty()) return;
        node.relation = RelationId(m_random.below(3) == 0 ? 1 : 0);
        push(std::move(node));
    }

    static void addOperand(std::vector<NodeId>& list, NodeId v)
    {
        if (v.valid() && std::ranges::find(list, v) == list.end()) list.push_back(v);
    }

    // What nobody uses, so that everything is alive, and now and then something else.
    void chooseOutputs()
    {
        std::vector<std::uint8_t> used(m_in.nodes.size(), 0);
        for (const Node& node : m_in.nodes) {
            for (const NodeId u : node.src) used[u.at()] = 1;
            for (const NodeId u : node.loc) used[u.at()] = 1;
        }
        for (std::size_t v = 0; v < used.size(); ++v)
            if (m_in.nodes[v].kind != NodeKind::Input && (!used[v] || m_random.chance(0.05)))
                m_in.outputs.emplace_back(v);
        if (m_in.outputs.empty()) m_in.outputs.emplace_back(used.size() - 1);
    }

    void addRequiredRead()
    {
        if (!m_random.chance(0.1)) return;
        const NodeId v(m_random.below(m_in.nodes.size()));
        for (const NodeId u : m_in.node(v).loc)
            if (m_in.node(u).kind != NodeKind::Input && !m_in.node(u).noCheckpoint) {
                m_in.requiredReads.push_back({u, v});
                return;
            }
    }

    Random m_random;
    int m_nodes;
    bool m_strange = false;
    Instance m_in;
};

// Costs of rows of the own frontier are those of own rows, or more.
class Region {
public:
    Region(std::uint64_t seed, int ops) : m_random(seed)
    {
        m_in.name = "region " + std::to_string(seed);
        m_in.types = {"a"};
        m_in.relations = {{"e", whole(0, 5)}};
        add(NodeKind::Input, {}, {});
        add(NodeKind::Hop, {NodeId(0)}, {});
        for (int k = 1; k < ops; ++k) add(NodeKind::Op, {}, operands());
        add(NodeKind::Op, {}, unused());
    }

    Instance make(bool budget)
    {
        const NodeId last(m_in.nodes.size() - 1);
        add(NodeKind::Hop, {last}, m_random.chance(0.5) ? std::vector{drawn()} : std::vector<NodeId>());
        m_in.outputs.emplace_back(m_in.nodes.size() - 1);
        m_in.stages = 2;
        m_in.allowStage0 = m_random.chance(0.5);
        double all = 0;
        for (const Node& node : m_in.nodes) all += node.kind == NodeKind::Input ? 0 : node.size;
        if (budget) m_in.hostBudget = std::max(all * whole(2, 6) / 10, m_in.nodes.back().size + 2);
        return m_in;
    }

private:
    double whole(int low, int high)
    {
        return low + static_cast<double>(m_random.below(static_cast<std::size_t>(high - low + 1)));
    }
    double onFrontier(double own, int more) { return own + (m_random.chance(0.5) ? 0 : whole(0, more)); }

    void add(NodeKind kind, std::vector<NodeId> src, std::vector<NodeId> loc)
    {
        Node node = nodeFor(m_in, kind, std::move(src), std::move(loc));
        node.write = kind == NodeKind::Input ? 0 : whole(1, 6);
        node.readD = whole(1, 6);
        node.size = whole(1, 6);
        node.readF = {onFrontier(node.readD, 12)};
        node.computeD = kind == NodeKind::Op ? whole(0, 4) : 0;
        node.computeF = {kind == NodeKind::Op ? onFrontier(node.computeD, 6) : 0};
        m_in.nodes.push_back(std::move(node));
    }

    // The hop or an op behind it.
    NodeId drawn() { return NodeId(1 + m_random.below(m_in.nodes.size() - 1)); }

    std::vector<NodeId> operands()
    {
        std::vector<NodeId> found{std::max(drawn(), drawn())};
        const NodeId other = drawn();
        if (m_random.chance(0.5) && other != found[0]) found.push_back(other);
        return found;
    }

    std::vector<NodeId> unused()
    {
        std::vector<NodeId> found;
        for (std::size_t v = 1; v < m_in.nodes.size(); ++v) {
            const auto uses = [&](const Node& node) { return std::ranges::count(node.loc, NodeId(v)) > 0; };
            if (std::ranges::none_of(m_in.nodes, uses)) found.emplace_back(v);
        }
        return found;
    }

    Random m_random;
    Instance m_in;
};

}  // namespace

Node nodeFor(const Instance& in, NodeKind kind, std::vector<NodeId> src, std::vector<NodeId> loc)
{
    Node node;
    node.name = "v" + std::to_string(in.nodes.size());
    node.kind = kind;
    node.type = TypeId(0);
    node.src = std::move(src);
    node.loc = std::move(loc);
    if (kind == NodeKind::Hop) node.relation = RelationId(0);
    return node;
}

Instance regionInstance(std::uint64_t seed, int ops) { return Region(seed, ops).make(seed % 2 == 1); }

Instance wildInstance(std::uint64_t seed, int nodes) { return Wild(seed, nodes).make(); }

void addPins(Instance& in, std::uint64_t seed)
{
    Random random(seed);
    const std::size_t wanted = in.pins.size() + 1 + random.below(3);
    for (int attempt = 0; attempt < 100 && in.pins.size() < wanted; ++attempt) {
        const NodeId v(random.below(in.nodes.size()));
        const Node& node = in.node(v);
        if (node.kind == NodeKind::Input) continue;
        const std::size_t kind = random.below(namesOf(PinKind{}).size());
        Pin pin{static_cast<PinKind>(kind), v, {}, 0};
        if (pin.kind == PinKind::HopStage) {
            if (node.kind != NodeKind::Hop) continue;
            pin.stage = 1 + static_cast<int>(random.below(static_cast<std::size_t>(in.stages)));
        }
        if (pin.kind == PinKind::Cut) {
            const std::vector<NodeId>& from =
                node.src.empty() || (!node.loc.empty() && random.chance(0.5)) ? node.loc : node.src;
            pin = {PinKind::Cut, from[random.below(from.size())], v, 0};
        }
        in.pins.push_back(pin);
    }
}

void addCuts(Instance& in, std::uint64_t seed, int count)
{
    Random random(seed);
    for (; count > 0; --count) {
        const NodeId v(random.below(in.nodes.size()));
        std::vector<NodeId> from = in.node(v).loc;
        from.insert(from.end(), in.node(v).src.begin(), in.node(v).src.end());
        if (!from.empty()) in.pins.push_back({PinKind::Cut, from[random.below(from.size())], v, 0});
    }
}

}  // namespace hopscope::test
