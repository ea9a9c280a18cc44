#include "graphview/fold/fold_builder.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>

#include "graphview/fold/strong_components.h"
#include "graphview/fold/words.h"
#include "models/labels.h"

namespace hopscope::graphview {

namespace {

constexpr int maxPrologueBoxes = 4;  // more of them are one box to begin with
constexpr int longestTip = 120;      // of literal arguments, in characters
constexpr int sharedUses = 5;        // what has so many uses is drawn at each of them

QString tr(const char* text, int n = -1) { return QCoreApplication::translate("GraphFold", text, nullptr, n); }

Shape shapeOf(const protocol::OpRecord& op)
{
    using protocol::NodeKind;
    if (op.structureOnly && op.computes()) return Shape::Structure;
    switch (op.kind) {
    case NodeKind::Input: return Shape::Input;
    case NodeKind::Output: return Shape::Output;
    case NodeKind::Structure: return Shape::Structure;
    case NodeKind::Gather: return Shape::Gather;
    case NodeKind::Aggregate: return Shape::Aggregate;
    case NodeKind::Reduce: return Shape::Reduce;
    case NodeKind::Rowwise: break;
    }
    return Shape::Rowwise;
}

// The outermost module with operators of its own around an operator: by it the prologue is folded.
int prologueModule(const FoldModel& fold, OpId op)
{
    int found = 0;
    for (int module = fold.tree.moduleOf[op]; module > 0; module = fold.tree.modules[module].parent)
        if (!fold.tree.modules[module].type.isEmpty() && fold.tree.modules[module].repeat == 1) found = module;
    return found;
}

bool isPrologueOp(const protocol::OpRecord& op) { return op.structureOnly && op.computes(); }

long long pairKey(int a, int b) { return (static_cast<long long>(a) << 32) | static_cast<unsigned>(b); }

// "convs.0.lin" inside of "convs.0" is "lin".
QString relative(const QString& path, const QString& frame)
{
    return !frame.isEmpty() && path.startsWith(frame + QLatin1Char('.')) ? path.mid(frame.size() + 1) : path;
}

}  // namespace

QString structureKey(const QString& module) { return QStringLiteral("structure:") + module; }
QString wholePrologueKey() { return QStringLiteral("structure"); }

QString enclosingStructure(const FoldModel& fold, const FoldState& state, const VisibleNode& node)
{
    if (!node.op.valid() || node.shape == Shape::Input) return {};
    const QString key = structureKey(fold.tree.modules[prologueModule(fold, node.op)].path);
    if (node.key.startsWith(QLatin1String("op")) && state.expanded.contains(key)) return key;
    return state.expanded.contains(wholePrologueKey()) ? wholePrologueKey() : QString();
}

FoldBuilder::FoldBuilder(const FoldModel& fold, const FoldState& state)
    : m_fold(fold),
      m_state(state),
      m_model(*fold.model)
{}

VisibleGraph FoldBuilder::build()
{
    findBoxes();
    placeOps();
    connect();
    stubSharedInputs();
    mergeLoops();
    frameNodes();
    dissolveFrames(m_graph);
    nameNodes();
    nameStubs();
    return std::move(m_graph);
}

void FoldBuilder::findBoxes()
{
    const auto& modules = m_fold.tree.modules;
    m_boxOf.assign(modules.size(), -1);
    std::vector<int> order{0};
    for (std::size_t i = 0; i < order.size(); ++i) {
        const int module = order[i];
        const int parent = modules[module].parent;
        const bool closed = m_fold.foldable(module) && !m_state.expanded.contains(modules[module].path);
        m_boxOf[module] = parent >= 0 && m_boxOf[parent] >= 0 ? m_boxOf[parent] : closed ? module : -1;
        order.insert(order.end(), modules[module].children.begin(), modules[module].children.end());
    }
    QSet<int> groups;
    for (std::size_t at = 0; at < m_model.ops.size(); ++at)
        if (isPrologueOp(m_model.ops[at])) groups.insert(prologueModule(m_fold, OpId(at)));
    m_wholePrologue = groups.size() > maxPrologueBoxes && !m_state.expanded.contains(wholePrologueKey());
}

int FoldBuilder::nodeAt(const QString& key, OpId op, Shape shape)
{
    const auto [place, fresh] = m_byKey.try_emplace(key.toStdString(), static_cast<int>(m_graph.nodes.size()));
    if (fresh) {
        VisibleNode node;
        node.key = key;
        node.op = op;
        node.shape = shape;
        m_graph.nodes.push_back(std::move(node));
    }
    return place->second;
}

int FoldBuilder::structureOwner(OpId op)
{
    const QString path = m_fold.tree.modules[prologueModule(m_fold, op)].path;
    const QString key = m_wholePrologue ? wholePrologueKey() : structureKey(path);
    int node = -1;
    if (m_wholePrologue || !m_state.expanded.contains(key)) {
        node = nodeAt(key, op, Shape::Structure);
        m_graph.nodes[node].expands = key;
    } else if (m_state.everyOperator || !isScalar(m_model.ops[op])) {
        node = nodeAt(QString::fromStdString(m_model.ops[op].id), op, Shape::Structure);
    }
    if (node >= 0) m_graph.nodes[node].prologue = true;
    return node;
}

int FoldBuilder::ownerOf(OpId op)
{
    const auto& record = m_model.ops[op];
    if (isPrologueOp(record)) return structureOwner(op);
    const OpId leader = m_state.everyOperator ? op : m_fold.leaders[op];
    const int box = m_boxOf[m_fold.tree.moduleOf[leader]];
    if (box < 0) {
        const int node = nodeAt(QString::fromStdString(m_model.ops[leader].id), leader, shapeOf(m_model.ops[leader]));
        m_graph.nodes[node].prologue = record.kind == protocol::NodeKind::Input && record.structureOnly;
        return node;
    }
    const auto& module = m_fold.tree.modules[box];
    const int node = nodeAt(QStringLiteral("module:") + module.path, leader, Shape::Module);
    m_graph.nodes[node].module = box;
    m_graph.nodes[node].expands = module.path;
    m_graph.nodes[node].repeat = module.repeat;
    return node;
}

void FoldBuilder::placeOps()
{
    m_graph.nodeOf.resize(m_model.ops.size());
    for (std::size_t at = 0; at < m_model.ops.size(); ++at) {
        const OpId op(at);
        const int index = ownerOf(op);
        m_graph.nodeOf[op] = index;
        if (index < 0) continue;
        VisibleNode& node = m_graph.nodes[index];
        const int depth = m_model.ops[op].depth;
        node.minDepth = node.ops.empty() ? depth : std::min(node.minDepth, depth);
        node.depth = std::max(node.depth, depth);
        node.ops.push_back(op);
    }
}

void FoldBuilder::addEdge(int from, int to, ValueId value)
{
    const auto [place, fresh] = m_edgeAt.try_emplace(pairKey(from, to), m_graph.edges.size());
    if (fresh) m_graph.edges.push_back({.from = from, .to = to, .values = {}});
    auto& values = m_graph.edges[place->second].values;
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
}

void FoldBuilder::addStub(int node, int source, ValueId value)
{
    const auto [place, fresh] = m_stubAt.try_emplace(pairKey(node, source), m_graph.stubs.size());
    if (fresh) m_graph.stubs.push_back({.node = node, .source = source, .label = {}, .values = {}});
    auto& values = m_graph.stubs[place->second].values;
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
}

void FoldBuilder::connectOp(OpId op)
{
    const int to = m_graph.nodeOf[op];
    if (to < 0) return;
    for (const ValueId value : m_model.ops[op].inputs) {
        const OpId producer = m_model.values[value].producer;
        const int from = producer.valid() ? m_graph.nodeOf[producer] : -1;
        if (from < 0 || from == to) continue;
        const bool fromPrologue = m_graph.nodes[from].prologue;
        // What the prologue takes from the stages is shapes alone: no value flows.
        if (!fromPrologue && m_graph.nodes[to].prologue) continue;
        if (fromPrologue && !m_graph.nodes[to].prologue) addStub(to, from, value);
        else addEdge(from, to, value);
    }
}

void FoldBuilder::connect()
{
    for (std::size_t at = 0; at < m_model.ops.size(); ++at) connectOp(OpId(at));
}

// What is used in many places (edge weights, a first layer's result) would pull long lines through the whole picture: it
// is drawn at each use but the first. Results stay connected to those uses that nothing else holds in place.
void FoldBuilder::stubSharedInputs()
{
    std::vector<int> uses(m_graph.nodes.size()), inputs(m_graph.nodes.size()), first(m_graph.nodes.size(), -1);
    for (const VisibleEdge& edge : m_graph.edges) {
        ++inputs[edge.to];
        if (uses[edge.from]++ == 0) first[edge.from] = edge.to;
    }
    const auto shared = [&](const VisibleEdge& edge) {
        const VisibleNode& from = m_graph.nodes[edge.from];
        if (from.prologue || uses[edge.from] < sharedUses) return false;
        return from.shape == Shape::Input || (first[edge.from] != edge.to && inputs[edge.to] > 1);
    };
    std::vector<VisibleEdge> kept;
    for (VisibleEdge& edge : m_graph.edges) {
        if (!shared(edge)) {
            kept.push_back(std::move(edge));
            continue;
        }
        --inputs[edge.to];
        for (const ValueId value : edge.values) addStub(edge.to, edge.from, value);
    }
    m_graph.edges = std::move(kept);
}

FoldBuilder::Edges FoldBuilder::edgePairs() const
{
    Edges pairs;
    pairs.reserve(m_graph.edges.size());
    for (const VisibleEdge& edge : m_graph.edges) pairs.emplace_back(edge.from, edge.to);
    return pairs;
}

// A module that is called twice, or layers with something of their parent between them, would be a loop when folded:
// what lies on the loop becomes part of the largest box.
void FoldBuilder::mergeLoops()
{
    const int count = static_cast<int>(m_graph.nodes.size());
    const std::vector<int> components = strongComponents(count, edgePairs());
    std::vector<int> firstOf(count, -1);
    for (int node = 0; node < count; ++node) {
        int& first = firstOf[components[node]];
        if (first < 0 || m_graph.nodes[node].ops.size() > m_graph.nodes[first].ops.size()) first = node;
    }
    mergeInto(components, firstOf);
    std::sort(m_graph.edges.begin(), m_graph.edges.end(), [](const VisibleEdge& a, const VisibleEdge& b) {
        return std::pair(a.from, a.to) < std::pair(b.from, b.to);
    });
    for (VisibleEdge& edge : m_graph.edges) std::sort(edge.values.begin(), edge.values.end());
}

void FoldBuilder::mergeInto(const std::vector<int>& components, const std::vector<int>& firstOf)
{
    std::vector<int> place(m_graph.nodes.size(), -1);
    std::vector<VisibleNode> kept;
    for (std::size_t node = 0; node < m_graph.nodes.size(); ++node) {
        if (firstOf[components[node]] != static_cast<int>(node)) continue;
        place[node] = static_cast<int>(kept.size());
        kept.push_back(m_graph.nodes[node]);
    }
    for (std::size_t node = 0; node < m_graph.nodes.size(); ++node) {
        const int target = firstOf[components[node]];
        if (target == static_cast<int>(node)) continue;
        place[node] = place[target];
        VisibleNode& into = kept[place[target]];
        const VisibleNode& from = m_graph.nodes[node];
        into.ops.insert(into.ops.end(), from.ops.begin(), from.ops.end());
        into.depth = std::max(into.depth, from.depth);
        into.minDepth = std::min(into.minDepth, from.minDepth);
        into.merged += from.module >= 0 ? 1 : 0;
    }
    for (VisibleNode& node : kept)
        std::sort(node.ops.begin(), node.ops.end());  // once: one may have taken in thousands
    m_graph.nodes = std::move(kept);
    for (int& node : m_graph.nodeOf)
        if (node >= 0) node = place[node];
    const std::vector<VisibleEdge> edges = std::exchange(m_graph.edges, {});
    const std::vector<Stub> stubs = std::exchange(m_graph.stubs, {});
    m_edgeAt.clear();
    m_stubAt.clear();
    for (const VisibleEdge& edge : edges)
        for (const ValueId value : edge.values)
            if (place[edge.from] != place[edge.to]) addEdge(place[edge.from], place[edge.to], value);
    for (const Stub& stub : stubs)
        for (const ValueId value : stub.values) addStub(place[stub.node], place[stub.source], value);
}

void FoldBuilder::nameStubs()
{
    for (Stub& stub : m_graph.stubs) {
        QStringList words;
        for (const ValueId value : stub.values) {
            const QString word = m_graph.nodes[stub.source].prologue ? structureWord(m_model, value)
                                                                     : models::valueLabel(m_model, value);
            if (!word.isEmpty() && !words.contains(word)) words << word;
        }
        stub.label = words.join(QStringLiteral(", "));
    }
    std::erase_if(m_graph.stubs, [](const Stub& stub) { return stub.label.isEmpty(); });
}

// The frame of an open module, made with those around it; -1: none of the modules around it has one.
int FoldBuilder::frameOf(int module)
{
    if (module <= 0) return -1;
    if (const auto known = m_frameAt.find(module); known != m_frameAt.end()) return known->second;
    const models::Module& record = m_fold.tree.modules[module];
    int frame = frameOf(record.parent);
    if (m_fold.foldable(module) && !record.ops.empty() && m_boxOf[module] < 0) {
        m_graph.frames.push_back({.module = module, .parent = frame, .path = record.path, .title = {}});
        frame = static_cast<int>(m_graph.frames.size()) - 1;
    }
    m_frameAt.emplace(module, frame);
    return frame;
}

void FoldBuilder::frameNodes()
{
    for (VisibleNode& node : m_graph.nodes) {
        if (node.prologue) continue;
        const int module = node.module >= 0 ? m_fold.tree.modules[node.module].parent : m_fold.tree.moduleOf[node.op];
        node.frame = frameOf(module);
    }
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

void FoldBuilder::nameNode(VisibleNode& node)
{
    if (!node.expands.isEmpty()) nameBox(node);
    else nameOp(node);
}

void FoldBuilder::nameBox(VisibleNode& node)
{
    if (node.prologue) {
        const QString path = node.expands == wholePrologueKey() ? QString() : node.expands.mid(structureKey({}).size());
        node.label = path.isEmpty() ? tr("structure") : path;
        node.detail = prologueDetail(m_model, node.ops);
        node.tip = tr("%n operators, computed once for the graph", static_cast<int>(node.ops.size()));
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
    if (node.merged > 0) node.label = tr("%1 and %n more", node.merged).arg(node.label);
    QStringList parts;
    if (node.merged == 0 && !module.type.isEmpty()) parts << module.type;
    if (node.merged > 0) parts << tr("%n ops", static_cast<int>(node.ops.size()));
    else parts << (module.repeat > 1 ? tr("identical") : tr("%n ops", module.opCount));
    node.detail = parts.join(QStringLiteral(" \u00b7 "));
    node.tip = tr("%n operators; double-click to expand", static_cast<int>(node.ops.size()));
    if (node.merged > 0) node.tip += QLatin1Char('\n') + tr("With what lies between these modules");
    if (module.identical > 1) node.tip += QLatin1Char('\n') + tr("one of %n identical", module.identical);
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
        node.label = relative(m_fold.tree.modules[module].path, frame) + suffix;
    }
    node.detail = shapeDetail(m_model, node.ops.empty() ? node.op : node.ops.back());
    node.tip = models::pathLabel(op);
    if (const QString arguments = models::argumentsLabel(op); !arguments.isEmpty())
        node.tip += QLatin1Char('\n') + (arguments.size() > longestTip ? arguments.left(longestTip) + u'…' : arguments);
}

}  // namespace hopscope::graphview
