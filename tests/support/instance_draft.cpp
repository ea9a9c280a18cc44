#include "support/instance_draft.h"

#include <algorithm>

namespace hopscope::optimiser {

namespace {
constexpr double perProduct = 0.0005;  // one multiplication of a linear layer
}

Draft::Draft(Random& random, int types) : m_random(random)
{
    for (int t = 0; t < std::max(1, types); ++t) m_instance.types.push_back("t" + std::to_string(t));
    for (const char* const name : {"e", "r0", "r1", "r2"}) m_instance.relations.push_back({name, 0});
    const double frontier = random.between(1.5, 10);
    for (std::size_t t = 0; t < m_instance.types.size(); ++t)
        for (m_frontier.emplace_back(); m_frontier.back().size() < m_instance.types.size();)
            m_frontier.back().push_back(types > 1 ? frontier * random.between(0.5, 2) : frontier);
    m_degree = random.between(frontier, 5 * frontier);
    m_writeFactor = random.pick<double>({1.0, 1.0, 1.2, 0.9});
    m_perFeature = random.pick<double>({0.005, 0.02, 0.06});
    m_instance.relations[0].structureCost = 2 * m_degree;
    for (std::size_t r = 1; r < m_instance.relations.size(); ++r)
        m_instance.relations[r].structureCost = 2 * m_degree / static_cast<double>(random.pick({2, 3}));
}

NodeId Draft::add(Node node, int width, double compute)
{
    const bool edges = node.rows == RowKind::Edge;
    const double rows = edges ? m_degree : 1;
    if (node.kind != NodeKind::Input) node.write = m_writeFactor * width * rows;
    node.readD = node.size = width * rows;
    node.computeD = compute * rows;
    for (const double frontier : m_frontier[node.type.at()]) {
        node.readF.push_back(edges ? 0 : frontier * width);
        node.computeF.push_back(edges || node.kind != NodeKind::Op ? 0 : frontier * compute);
    }
    m_instance.nodes.push_back(std::move(node));
    m_width.push_back(width);
    return NodeId(m_instance.nodes.size() - 1);
}

NodeId Draft::input(int type, int width)
{
    Node node;
    node.name = "x" + std::to_string(size());
    node.kind = NodeKind::Input;
    node.type = TypeId(type);
    return add(std::move(node), width, 0);
}

NodeId Draft::op(const std::vector<NodeId>& operands, int width, double compute)
{
    Node node;
    node.name = "op" + std::to_string(size());
    node.loc = operands;
    node.type = m_instance.node(operands[0]).type;
    node.rows = m_instance.node(operands[0]).rows;
    return add(std::move(node), width, compute);
}

NodeId Draft::elementwise(const std::vector<NodeId>& operands)
{
    int widest = 0;
    for (const NodeId u : operands) widest = std::max(widest, width(u));
    return op(operands, widest, m_perFeature * widest * (0.5 + 0.5 * static_cast<double>(operands.size())));
}

NodeId Draft::concatenate(const std::vector<NodeId>& operands)
{
    int sum = 0;
    for (const NodeId u : operands) sum += width(u);
    return op(operands, sum, m_perFeature * sum);
}

NodeId Draft::linear(NodeId operand, int newWidth)
{
    return op({operand}, newWidth, perProduct * width(operand) * newWidth + m_perFeature * newWidth * 0.5);
}

NodeId Draft::narrow(NodeId operand, int newWidth) { return op({operand}, newWidth, m_perFeature * width(operand)); }

NodeId Draft::hop(int type, const std::vector<NodeId>& src, const std::vector<NodeId>& loc, int newWidth, int relation,
                  RowKind rows)
{
    Node node;
    node.name = "hop" + std::to_string(size());
    node.kind = NodeKind::Hop;
    node.type = TypeId(type);
    node.rows = rows;
    node.src = src;
    node.loc = loc;
    node.relation = RelationId(relation);
    return add(std::move(node), newWidth, 0);
}

NodeId Draft::gate(NodeId from) { return elementwise({from, elementwise({from})}); }

NodeId Draft::norm(NodeId from)
{
    const NodeId centred = elementwise({from, narrow(from, 1)});
    return elementwise({centred, narrow(centred, 1)});
}

NodeId Draft::block(NodeId from, int& used)
{
    const int inside = std::max(1, static_cast<int>(width(from) * m_random.pick<double>({0.25, 0.5, 2, 4})));
    const NodeId back = linear(elementwise({linear(from, inside)}), width(from));
    used = m_random.chance(0.6) ? 4 : 3;
    return used == 4 ? elementwise({from, back}) : back;
}

NodeId Draft::filler(NodeId from, int count)
{
    while (count > 0) {
        const double kind = m_random.unit();
        int used = 1;
        if (kind < 0.55 || count < 4) from = elementwise({from});
        else if (kind < 0.68) from = gate(from), used = 2;
        else if (kind < 0.83) from = norm(from), used = 4;
        else if (kind < 0.93) from = block(from, used);
        else from = linear(from, m_random.pick({16, 32, 64, 128, 256}));
        count -= used;
    }
    return from;
}

Instance Draft::finish(const std::string& name, const std::vector<NodeId>& outputs)
{
    m_instance.name = name;
    m_instance.outputs = outputs;
    m_instance.stages = neededStages(m_instance);
    return std::move(m_instance);
}

}  // namespace hopscope::optimiser
