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

}  // namespace

Instance wildInstance(std::uint64_t seed, int nodes) { return Wild(seed, nodes).make(); }

void addPins(Instance& in, std::uint64_t seed)
{
    Random random(seed);
    const std::size_t wanted = in.pins.size() + 1 + random.below(3);
    for (int attempt = 0; attempt < 100 && in.pins.size() < wanted; ++attempt) {
        const NodeId v(random.below(in.nodes.size()));
        const Node& node = in.node(v);
        if (node.kind == NodeKind::Input) continue;
        const std::size_t kind = random.below(5);
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

}  // namespace hopscope::test
