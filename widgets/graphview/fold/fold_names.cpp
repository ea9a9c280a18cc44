#include <QStringList>

#include "graphview/fold/fold_builder.h"
#include "graphview/fold/words.h"
#include "models/labels.h"
#include "models/op_names.h"
#include "models/tr.h"

namespace hopscope::graphview {

namespace {

constexpr int longestTip = 120;  // of literal arguments, in characters

// "convs.0.lin" inside of "convs.0" is "lin".
QString relative(const QString& path, const QString& frame)
{
    return !frame.isEmpty() && path.startsWith(frame + QLatin1Char('.')) ? path.mid(frame.size() + 1) : path;
}

// The number of a module in a list gets its type: "Linear mlp.7".
QString toldName(const models::Module& module, const QString& frame)
{
    const QString name = relative(module.path, frame);
    bool number = false;
    name.section(QLatin1Char('.'), -1).toInt(&number);
    return number && !module.type.isEmpty() ? module.type + QLatin1Char(' ') + name : name;
}

QString opsText(std::size_t count) { return count == 1 ? tr("1 op") : tr("%1 ops").arg(count); }

// The module of the innermost frame around a node; -1: none.
int frameModule(const VisibleGraph& graph, const VisibleNode& node)
{
    return node.frame < 0 ? -1 : graph.frames[node.frame].module;
}

}  // namespace

QString FoldBuilder::stubWord(const Stub& stub, ValueId value)
{
    const auto [place, fresh] = m_words.try_emplace(value);
    if (fresh)
        place->second =
            m_graph.nodes[stub.source].prologue ? structureWord(m_model, value) : models::valueLabel(m_model, value);
    return place->second;
}

void FoldBuilder::nameStubs()
{
    for (Stub& stub : m_graph.stubs) {
        QStringList words;
        for (const ValueId value : stub.values) {
            const QString word = stubWord(stub, value);
            if (!word.isEmpty() && !words.contains(word)) words << word;
        }
        stub.label = words.join(QStringLiteral(", "));
    }
    std::erase_if(m_graph.stubs, [](const Stub& stub) { return stub.label.isEmpty(); });
}

void FoldBuilder::nameNodes()
{
    for (Frame& frame : m_graph.frames) {
        const models::Module& module = m_fold.tree.modules[frame.module];
        frame.title = relative(module.path, frame.parent < 0 ? QString() : m_graph.frames[frame.parent].path);
        if (!module.type.isEmpty()) frame.title += QStringLiteral("  ") + module.type;
    }
    for (VisibleNode& node : m_graph.nodes) nameNode(node);
}

QString FoldBuilder::keyOf(const VisibleNode& node) const
{
    if (node.module >= 0) return QStringLiteral("module:") + m_fold.tree.modules[node.module].path;
    return node.expands.isEmpty() ? QString::fromStdString(m_model.ops[node.op].id) : node.expands;
}

// The node of the previous fold with the same contents in the same frame, whose label is reused. Null: none.
const VisibleNode* FoldBuilder::sameBefore(const VisibleNode& node) const
{
    const int at = m_before ? m_before->nodeOf[node.op] : -1;
    if (at < 0) return nullptr;
    const VisibleNode& known = m_before->nodes[at];
    const bool same = known.op == node.op && known.module == node.module && known.merged == node.merged &&
                      known.expands == node.expands && known.ops == node.ops &&
                      frameModule(*m_before, known) == frameModule(m_graph, node);
    return same ? &known : nullptr;
}

void FoldBuilder::nameNode(VisibleNode& node)
{
    if (const VisibleNode* same = sameBefore(node)) {
        node.key = same->key;
        node.label = same->label;
        node.detail = same->detail;
        node.tip = same->tip;
        return;
    }
    node.key = keyOf(node);
    if (!node.expands.isEmpty()) nameBox(node);
    else nameOp(node);
}

void FoldBuilder::nameBox(VisibleNode& node)
{
    if (node.prologue) {
        const QString path = node.expands == wholePrologueKey() ? QString() : node.expands.mid(structureKey({}).size());
        node.label = path.isEmpty() ? tr("structure") : path;
        node.detail = prologueDetail(m_model, node.ops);
        node.tip = tr("%1, computed once for the graph").arg(operatorsText(node.ops.size()));
        return;
    }
    nameModule(node, m_fold.tree.modules[node.module]);
}

// "blocks 0–39 ×40", "convs.0 and 2 more", "conv1".
void FoldBuilder::nameModule(VisibleNode& node, const models::Module& module)
{
    node.label = relative(module.path, node.frame < 0 ? QString() : m_graph.frames[node.frame].path);
    node.label.replace(QStringLiteral(".["), QStringLiteral(" ")).remove(QLatin1Char('[')).remove(QLatin1Char(']'));
    if (module.repeat > 1) node.label += QStringLiteral(" \u00d7%1").arg(module.repeat);
    if (node.merged > 0) node.label = tr("%1 and %2 more").arg(node.label, QString::number(node.merged));
    QStringList parts;
    if (node.merged == 0 && !module.type.isEmpty()) parts << module.type;
    if (node.merged > 0) parts << opsText(node.ops.size());
    else parts << (module.repeat > 1 ? tr("identical") : opsText(static_cast<std::size_t>(module.opCount)));
    node.detail = parts.join(QStringLiteral(" \u00b7 "));
    node.tip = tr("%1; double-click to expand").arg(operatorsText(node.ops.size()));
    if (node.merged > 0) node.tip += QLatin1Char('\n') + tr("Includes the operators between these modules");
    if (module.identical > 1) node.tip += QLatin1Char('\n') + tr("One of %1 identical modules").arg(module.identical);
}

// The names of the operators that are drawn as this node.
QString FoldBuilder::namesOf(const VisibleNode& node) const
{
    constexpr std::size_t most = 4;
    QStringList names;
    for (std::size_t i = 0; i < std::min(most, node.ops.size()); ++i)
        if (!isScalar(m_model.ops[node.ops[i]])) names << models::opName(m_model, node.ops[i]);
    if (node.ops.size() > most) names << QStringLiteral("…");
    return names.isEmpty() ? models::opName(m_model, node.op) : names.join(QStringLiteral(", "));
}

void FoldBuilder::nameOp(VisibleNode& node)
{
    const auto& op = m_model.ops[node.op];
    const int module = m_fold.tree.moduleOf[node.op];
    node.label = groupLabel(m_model, node.op, node.ops);
    // A module that is one operator gives it its name: "lin" says more than "linear".
    const bool named = node.shape == Shape::Rowwise && !m_fold.foldable(module) && m_fold.leaders[node.op] == node.op;
    if (named && module > 0) {
        const QString frame = node.frame < 0 ? QString() : m_graph.frames[node.frame].path;
        const QString suffix = node.label.mid(models::opLabel(m_model, op).size());
        node.label = toldName(m_fold.tree.modules[module], frame) + suffix;
    }
    node.detail = shapeDetail(m_model, node.ops.empty() ? node.op : node.ops.back());
    node.tip = namesOf(node) + QLatin1Char('\n') + models::pathLabel(op);
    if (const QString arguments = models::argumentsLabel(op); !arguments.isEmpty())
        node.tip += QLatin1Char('\n') + (arguments.size() > longestTip ? arguments.left(longestTip) + u'…' : arguments);
}

}  // namespace hopscope::graphview
