#include "models/module_tree.h"

#include "models/labels.h"

namespace hopscope::models {

namespace {

class Builder {
public:
    explicit Builder(const protocol::ModelRecord& model) : m_model(model) {}

    std::vector<ModuleNode> build()
    {
        const QString name = text(m_model.className);
        add(-1, ModuleNode::Kind::Module, name.isEmpty() ? QCoreApplication::translate("Op", "model") : name, {});
        m_modules[{}] = 0;
        for (std::size_t op = 0; op < m_model.ops.size(); ++op)
            if (!folded(m_model.ops[op])) addOp(static_cast<int>(op), module(text(m_model.ops[op].module)));
        for (std::size_t op = 0; op < m_model.ops.size(); ++op)
            if (folded(m_model.ops[op])) addOp(static_cast<int>(op), structure(text(m_model.ops[op].module)));
        describe();
        return std::move(m_nodes);
    }

private:
    static bool folded(const protocol::OpRecord& op) { return op.structureOnly && op.kind == "structure"; }

    int add(int parent, ModuleNode::Kind kind, const QString& label, const QString& path)
    {
        ModuleNode node;
        node.parent = parent;
        node.kind = kind;
        node.label = label;
        node.path = path;
        m_nodes.push_back(std::move(node));
        return static_cast<int>(m_nodes.size()) - 1;
    }

    int module(const QString& path)
    {
        if (const auto known = m_modules.find(path); known != m_modules.end()) return known->second;
        const qsizetype dot = path.lastIndexOf(QLatin1Char('.'));
        const int parent = module(dot < 0 ? QString() : path.left(dot));
        return m_modules[path] = add(parent, ModuleNode::Kind::Module, path.mid(dot + 1), path);
    }

    int structure(const QString& path)
    {
        if (const auto known = m_structures.find(path); known != m_structures.end()) return known->second;
        const QString label = QCoreApplication::translate("Op", "structure only");
        return m_structures[path] = add(module(path), ModuleNode::Kind::Structure, label, path);
    }

    void addOp(int op, int parent)
    {
        const protocol::OpRecord& record = m_model.ops[static_cast<std::size_t>(op)];
        const int node = add(parent, ModuleNode::Kind::Op, humanLabel(record), text(record.module));
        ModuleNode& leaf = m_nodes[static_cast<std::size_t>(node)];
        leaf.op = op;
        leaf.depth = record.depth;
        leaf.detail = text(record.name);
        leaf.search = pathLabel(record) + QLatin1Char(' ') + leaf.label + QLatin1Char(' ') + text(record.id);
        for (const int value : record.outputs)
            leaf.search += QLatin1Char(' ') + shapeLabel(m_model, m_model.values[static_cast<std::size_t>(value)]);
        if (!record.module.empty() && !record.moduleType.empty())
            m_nodes[static_cast<std::size_t>(m_modules[text(record.module)])].detail = text(record.moduleType);
    }

    // Depths upwards, and what modules are found by.
    void describe()
    {
        for (std::size_t at = m_nodes.size(); at-- > 1;) {
            ModuleNode& above = m_nodes[static_cast<std::size_t>(m_nodes[at].parent)];
            above.depth = std::max(above.depth, m_nodes[at].depth);
        }
        for (ModuleNode& node : m_nodes)
            if (node.op < 0) node.search = node.label + QLatin1Char(' ') + node.path + QLatin1Char(' ') + node.detail;
    }

    const protocol::ModelRecord& m_model;
    std::vector<ModuleNode> m_nodes;
    std::map<QString, int> m_modules, m_structures;
};

Target targetOf(const ModuleNode& node)
{
    return node.kind == ModuleNode::Kind::Op ? Target::op(node.op) : Target::moduleAt(node.path);
}

QString tip(const ModuleNode& node)
{
    if (node.kind == ModuleNode::Kind::Op) return node.detail;
    return node.detail.isEmpty() ? node.path : node.path + QStringLiteral(" · ") + node.detail;
}

QString display(const ModuleNode& node)
{
    if (node.kind != ModuleNode::Kind::Module || node.detail.isEmpty()) return node.label;
    return node.label + QStringLiteral("  ") + node.detail;
}

}  // namespace

std::vector<ModuleNode> moduleNodes(const protocol::ModelRecord& model) { return Builder(model).build(); }

int ModuleTree::find(const Target& target, const protocol::ModelRecord& model) const
{
    Target wanted = target;
    if (target.kind == Target::Kind::Value && target.index >= 0)
        wanted = Target::op(model.values[static_cast<std::size_t>(target.index)].producer);
    if (wanted.kind != Target::Kind::Op && wanted.kind != Target::Kind::Module) return -1;
    const auto found = std::ranges::find_if(nodes(), [&](const ModuleNode& node) { return targetOf(node) == wanted; });
    return found == nodes().end() ? -1 : static_cast<int>(found - nodes().begin());
}

QVariant ModuleTree::cell(const ModuleNode& node, ModuleColumn, int role) const
{
    const bool structure = node.kind == ModuleNode::Kind::Structure;
    switch (role) {
    case Qt::DisplayRole: return display(node);
    case Qt::ToolTipRole: return tip(node);
    case Qt::AccessibleTextRole: return tr("%1, depth %2").arg(display(node)).arg(node.depth);
    case TargetRole: return QVariant::fromValue(targetOf(node));
    case DepthRole: return structure ? QVariant() : QVariant(node.depth);
    case MutedRole: return structure;
    case SearchRole: return node.search;
    default: return {};
    }
}

QVariant ModuleTree::header(ModuleColumn, int role) const
{
    return role == Qt::DisplayRole ? tr("Module") : QVariant();
}

ModuleFilter::ModuleFilter(QObject* parent) : QSortFilterProxyModel(parent)
{
    setRecursiveFilteringEnabled(true);
    setAutoAcceptChildRows(true);
}

void ModuleFilter::setText(const QString& text)
{
    m_words = text.simplified().split(QLatin1Char(' '), Qt::SkipEmptyParts);
    invalidateFilter();
}

bool ModuleFilter::filterAcceptsRow(int row, const QModelIndex& parent) const
{
    const QString search = sourceModel()->index(row, 0, parent).data(ModuleTree::SearchRole).toString();
    return std::ranges::all_of(m_words,
                               [&](const QString& word) { return search.contains(word, Qt::CaseInsensitive); });
}

}  // namespace hopscope::models
