#include "models/outline_model.h"

#include "models/labels.h"
#include "models/op_names.h"

namespace hopscope::models {

namespace {

class OutlineBuilder {
public:
    OutlineBuilder(const protocol::ModelRecord& model, const ModuleTree& tree)
        : m_model(model),
          m_tree(tree),
          m_modules(tree.modules.size(), -1),
          m_structures(tree.modules.size(), -1)
    {}

    std::vector<OutlineNode> build()
    {
        module(0);
        for (std::size_t op = 0; op < m_model.ops.size(); ++op)
            if (!folded(m_model.ops[op])) addOp(protocol::OpId(op), module(m_tree.moduleOf[op]));
        for (std::size_t op = 0; op < m_model.ops.size(); ++op)
            if (folded(m_model.ops[op])) addOp(protocol::OpId(op), structure(m_tree.moduleOf[op]));
        for (std::size_t at = m_nodes.size(); at-- > 1;) {
            OutlineNode& above = m_nodes[static_cast<std::size_t>(m_nodes[at].parent)];
            above.depth = std::max(above.depth, m_nodes[at].depth);
        }
        return std::move(m_nodes);
    }

private:
    static bool folded(const protocol::OpRecord& op)
    {
        return op.structureOnly && op.kind == protocol::NodeKind::Structure;
    }

    int add(int parent, OutlineNode::Kind kind, int module)
    {
        OutlineNode node;
        node.parent = parent;
        node.kind = kind;
        node.module = module;
        m_nodes.push_back(std::move(node));
        return static_cast<int>(m_nodes.size()) - 1;
    }

    int module(int index)
    {
        int& node = m_modules[static_cast<std::size_t>(index)];
        if (node >= 0) return node;
        const int parent = m_tree.modules[static_cast<std::size_t>(index)].parent;
        return node = add(parent < 0 ? -1 : module(parent), OutlineNode::Kind::Module, index);
    }

    int structure(int index)
    {
        int& node = m_structures[static_cast<std::size_t>(index)];
        if (node < 0) node = add(module(index), OutlineNode::Kind::Structure, index);
        return node;
    }

    void addOp(protocol::OpId op, int parent)
    {
        const int node = add(parent, OutlineNode::Kind::Op, m_tree.moduleOf[op]);
        m_nodes[static_cast<std::size_t>(node)].op = op;
        m_nodes[static_cast<std::size_t>(node)].depth = m_model.ops[op].depth;
    }

    const protocol::ModelRecord& m_model;
    const ModuleTree& m_tree;
    std::vector<OutlineNode> m_nodes;
    std::vector<int> m_modules, m_structures;  // the nodes by module
};

}  // namespace

std::vector<OutlineNode> outlineNodes(const protocol::ModelRecord& model, const ModuleTree& tree)
{
    return OutlineBuilder(model, tree).build();
}

void OutlineModel::setModel(ModelPtr model, PartsPtr parts)
{
    m_model = std::move(model);
    m_parts = std::move(parts);
    std::vector<OutlineNode> made = m_model ? outlineNodes(*m_model, m_parts->modules) : std::vector<OutlineNode>();
    m_nodeOfOp.assign(m_model ? m_model->ops.size() : 0, -1);
    m_nodeOfModule.assign(m_model ? m_parts->modules.modules.size() : 0, -1);
    for (std::size_t at = 0; at < made.size(); ++at) {
        const bool op = made[at].kind == OutlineNode::Kind::Op;
        if (op) m_nodeOfOp[made[at].op] = static_cast<int>(at);
        if (made[at].kind == OutlineNode::Kind::Module)
            m_nodeOfModule[static_cast<std::size_t>(made[at].module)] = static_cast<int>(at);
    }
    setNodes(std::move(made));
}

int OutlineModel::find(const Target& target) const
{
    if (!m_model) return -1;
    if (target.kind == Target::Kind::Module) {
        const int module = m_parts->modules.find(target.module);
        return module < 0 ? -1 : m_nodeOfModule[static_cast<std::size_t>(module)];
    }
    const bool value = m_model->values.contains(target.valueId());
    const protocol::OpId op = value ? m_model->values[target.valueId()].producer : target.opId();
    return m_nodeOfOp.contains(op) ? m_nodeOfOp[op] : -1;
}

std::vector<char> OutlineModel::withOps(const std::vector<protocol::OpId>& ops) const
{
    std::vector<char> kept(nodes().size(), 0);
    for (const protocol::OpId op : ops)
        for (int node = m_nodeOfOp[op]; node >= 0 && !kept[static_cast<std::size_t>(node)];
             node = nodes()[static_cast<std::size_t>(node)].parent)
            kept[static_cast<std::size_t>(node)] = 1;
    return kept;
}

const Module& OutlineModel::moduleOf(const OutlineNode& node) const
{
    return m_parts->modules.modules[static_cast<std::size_t>(node.module)];
}

QString OutlineModel::label(const OutlineNode& node) const
{
    if (node.kind == OutlineNode::Kind::Op) return opLabel(*m_model, m_model->ops[node.op]);
    if (node.kind == OutlineNode::Kind::Structure) return QCoreApplication::translate("Op", "structure only");
    if (node.parent < 0)
        return m_model->className.empty() ? QCoreApplication::translate("Op", "model") : text(m_model->className);
    const Module& module = moduleOf(node);
    return module.type.isEmpty() ? module.name : module.name + QStringLiteral("  ") + module.type;
}

QString OutlineModel::tip(const OutlineNode& node) const
{
    if (node.kind == OutlineNode::Kind::Op)
        return opName(*m_model, node.op) + QStringLiteral(" · ") + text(m_model->ops[node.op].name);
    const Module& module = moduleOf(node);
    return module.type.isEmpty() ? module.path : module.path + QStringLiteral(" · ") + module.type;
}

Target OutlineModel::targetOf(const OutlineNode& node) const
{
    return node.kind == OutlineNode::Kind::Op ? Target::op(node.op) : Target::moduleAt(moduleOf(node).path);
}

QVariant OutlineModel::cell(const OutlineNode& node, OutlineColumn, int role) const
{
    const bool structure = node.kind == OutlineNode::Kind::Structure;
    switch (role) {
    case Qt::DisplayRole: return label(node);
    case Qt::ToolTipRole: return tip(node);
    case Qt::AccessibleTextRole:
        return depthKnown(*m_model) ? tr("%1, depth %2").arg(label(node)).arg(node.depth) : label(node);
    case TargetRole: return QVariant::fromValue(targetOf(node));
    case DepthRole: return structure || !depthKnown(*m_model) ? QVariant() : QVariant(node.depth);
    case MutedRole: return structure;
    default: return {};
    }
}

QVariant OutlineModel::header(OutlineColumn, int role) const
{
    return role == Qt::DisplayRole ? tr("Module") : QVariant();
}

void OutlineFilter::setKept(std::vector<char> kept)
{
    m_kept = std::move(kept);
    invalidateFilter();
}

bool OutlineFilter::filterAcceptsRow(int row, const QModelIndex& parent) const
{
    if (m_kept.empty()) return true;
    const QModelIndex index = sourceModel()->index(row, 0, parent);
    return index.internalId() < m_kept.size() && m_kept[index.internalId()];
}

}  // namespace hopscope::models
