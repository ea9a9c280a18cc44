#include "graphview/fold/fold_builder.h"

#include <algorithm>

#include "graphview/fold/strong_components.h"

namespace hopscope::graphview {

namespace {

constexpr int maxPrologueBoxes = 4;  // more of them are one box to begin with
constexpr int sharedUses = 5;        // values with at least so many uses are drawn at each use
constexpr int roomForMore = 1000;    // nodes than before

long long pairKey(int a, int b) { return (static_cast<long long>(a) << 32) | static_cast<unsigned>(b); }

}  // namespace

QString structureKey(const QString& module) { return QStringLiteral("structure:") + module; }
QString wholePrologueKey() { return QStringLiteral("structure"); }

QString enclosingStructure(const FoldModel& fold, const FoldState& state, const VisibleNode& node)
{
    if (!node.op.valid() || node.shape == Shape::Input) return {};
    const QString key = structureKey(fold.tree.modules[fold.facts[node.op].prologueModule].path);
    if (node.key.startsWith(QLatin1String("op")) && state.expanded.contains(key)) return key;
    return state.expanded.contains(wholePrologueKey()) ? wholePrologueKey() : QString();
}

FoldBuilder::FoldBuilder(const FoldModel& fold, const FoldState& state, const VisibleGraph* before)
    : m_fold(fold),
      m_state(state),
      m_model(*fold.model),
      m_before(before),
      m_nodeOfOp(m_model.ops.size(), -1),
      m_nodeOfBox(fold.tree.modules.size(), -1)
{}

VisibleGraph FoldBuilder::build()
{
    findBoxes();
    findPrologue();
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
}

void FoldBuilder::findPrologue()
{
    for (const OpFacts& facts : m_fold.facts) {
        if (!facts.prologue) continue;
        const int module = facts.prologueModule;
        const auto [place, fresh] = m_structureOpen.try_emplace(module, false);
        if (fresh) place->second = m_state.expanded.contains(structureKey(m_fold.tree.modules[module].path));
    }
    m_wholePrologue = m_structureOpen.size() > maxPrologueBoxes && !m_state.expanded.contains(wholePrologueKey());
}

int FoldBuilder::addNode(OpId op, Shape shape)
{
    m_graph.nodes.push_back({.key = {},
                             .shape = shape,
                             .label = {},
                             .detail = {},
                             .tip = {},
                             .op = op,
                             .ops = OpList(m_graph.memory.get()),
                             .expands = {}});
    return static_cast<int>(m_graph.nodes.size()) - 1;
}

int FoldBuilder::operatorNode(OpId op, Shape shape, bool prologue)
{
    int& node = m_nodeOfOp[op];
    if (node >= 0) return node;
    node = addNode(op, shape);
    m_graph.nodes[node].prologue = prologue;
    return node;
}

int FoldBuilder::moduleBox(int module, OpId first)
{
    int& node = m_nodeOfBox[module];
    if (node >= 0) return node;
    node = addNode(first, Shape::Module);
    m_graph.nodes[node].module = module;
    m_graph.nodes[node].expands = m_fold.tree.modules[module].path;
    m_graph.nodes[node].repeat = m_fold.tree.modules[module].repeat;
    return node;
}

int FoldBuilder::structureBox(int module, OpId first)
{
    const auto [place, fresh] = m_nodeOfStructure.try_emplace(module, -1);
    if (!fresh) return place->second;
    place->second = addNode(first, Shape::Structure);
    VisibleNode& node = m_graph.nodes[place->second];
    node.expands = m_wholePrologue ? wholePrologueKey() : structureKey(m_fold.tree.modules[module].path);
    node.prologue = true;
    return place->second;
}

int FoldBuilder::structureOwner(OpId op)
{
    const int module = m_wholePrologue ? 0 : m_fold.facts[op].prologueModule;
    if (m_wholePrologue || !m_structureOpen[module]) return structureBox(module, op);
    const bool shown = m_state.everyOperator || !m_fold.facts[op].scalar;
    return shown ? operatorNode(op, Shape::Structure, true) : -1;
}

int FoldBuilder::ownerOf(OpId op)
{
    const OpFacts& facts = m_fold.facts[op];
    if (facts.prologue) return structureOwner(op);
    const OpId leader = m_state.everyOperator ? op : m_fold.leaders[op];
    const int box = m_boxOf[m_fold.tree.moduleOf[leader]];
    if (box >= 0) return moduleBox(box, leader);
    return operatorNode(leader, m_fold.facts[leader].shape, facts.structureInput);
}

void FoldBuilder::placeOps()
{
    m_graph.nodeOf.resize(m_model.ops.size());
    if (m_before) m_graph.nodes.reserve(m_before->nodes.size() + roomForMore);
    for (std::size_t at = 0; at < m_model.ops.size(); ++at) {
        const OpId op(at);
        const int index = ownerOf(op);
        m_graph.nodeOf[op] = index;
        if (index < 0) continue;
        VisibleNode& node = m_graph.nodes[index];
        const int depth = m_fold.facts[op].depth;
        node.minDepth = node.ops.empty() ? depth : std::min(node.minDepth, depth);
        node.depth = std::max(node.depth, depth);
        node.ops.push_back(op);
    }
}

void FoldBuilder::addEdge(int from, int to, ValueId value)
{
    const auto [place, fresh] = m_edgeAt.try_emplace(pairKey(from, to), m_graph.edges.size());
    if (fresh) m_graph.edges.push_back({.from = from, .to = to, .values = ValueList(m_graph.memory.get())});
    auto& values = m_graph.edges[place->second].values;
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
}

void FoldBuilder::addStub(int node, int source, ValueId value)
{
    const auto [place, fresh] = m_stubAt.try_emplace(pairKey(node, source), m_graph.stubs.size());
    if (fresh)
        m_graph.stubs.push_back(
            {.node = node, .source = source, .label = {}, .values = ValueList(m_graph.memory.get())});
    auto& values = m_graph.stubs[place->second].values;
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
}

void FoldBuilder::connectOp(OpId op)
{
    const int to = m_graph.nodeOf[op];
    if (to < 0) return;
    for (std::size_t at = m_fold.flowsOf[op.at()]; at < m_fold.flowsOf[op.at() + 1]; ++at) {
        const auto& [value, producer] = m_fold.flows[at];
        const int from = m_graph.nodeOf[producer];
        if (from < 0 || from == to) continue;
        const bool fromPrologue = m_graph.nodes[from].prologue;
        // The prologue reads only shapes from the stages: no value flows.
        if (!fromPrologue && m_graph.nodes[to].prologue) continue;
        if (fromPrologue && !m_graph.nodes[to].prologue) addStub(to, from, value);
        else addEdge(from, to, value);
    }
}

void FoldBuilder::connect()
{
    m_edgeAt.reserve(2 * m_graph.nodes.size());
    m_graph.edges.reserve(2 * m_graph.nodes.size());
    for (std::size_t at = 0; at < m_model.ops.size(); ++at) connectOp(OpId(at));
}

// Values with many uses (edge weights, a first layer's result) would pull long lines through the whole picture: they are
// drawn as stubs at each use but the first. Results stay connected to uses that nothing else holds in place.
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
    kept.reserve(m_graph.edges.size());
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

// A module that is called twice, or layers with something of their parent between them, would form a cycle when
// folded: the nodes on the cycle become part of the largest box.
void FoldBuilder::mergeLoops()
{
    const int count = static_cast<int>(m_graph.nodes.size());
    const std::vector<int> components = strongComponents(count, edgePairs());
    const auto last = std::max_element(components.begin(), components.end());
    const bool loops = last != components.end() && *last + 1 < count;
    if (loops) mergeInto(components, largestOf(components));
    sortEdges();
}

// For each component, the node with the most operators; the first one on a tie.
std::vector<int> FoldBuilder::largestOf(const std::vector<int>& components) const
{
    std::vector<int> largest(components.size(), -1);
    for (std::size_t node = 0; node < components.size(); ++node) {
        int& first = largest[components[node]];
        const bool larger = first < 0 || m_graph.nodes[node].ops.size() > m_graph.nodes[first].ops.size();
        if (larger) first = static_cast<int>(node);
    }
    return largest;
}

void FoldBuilder::sortEdges()
{
    std::vector<std::pair<long long, std::size_t>> order;
    order.reserve(m_graph.edges.size());
    for (const VisibleEdge& edge : m_graph.edges) order.emplace_back(pairKey(edge.from, edge.to), order.size());
    std::sort(order.begin(), order.end());
    std::vector<VisibleEdge> sorted;
    sorted.reserve(order.size());
    for (const auto& [ends, at] : order) {
        sorted.push_back(std::move(m_graph.edges[at]));
        std::sort(sorted.back().values.begin(), sorted.back().values.end());
    }
    m_graph.edges = std::move(sorted);
}

void FoldBuilder::mergeInto(const std::vector<int>& components, const std::vector<int>& firstOf)
{
    std::vector<int> place(m_graph.nodes.size(), -1);
    std::vector<VisibleNode> kept;
    for (std::size_t node = 0; node < m_graph.nodes.size(); ++node) {
        if (firstOf[components[node]] != static_cast<int>(node)) continue;
        place[node] = static_cast<int>(kept.size());
        kept.push_back(std::move(m_graph.nodes[node]));
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

// The frame of an open module, made with those around it; -1: none of the modules around it has one.
int FoldBuilder::frameOf(int module)
{
    constexpr int unknown = -2;
    if (module <= 0) return -1;
    if (m_frameAt.empty()) m_frameAt.assign(m_fold.tree.modules.size(), unknown);
    if (m_frameAt[module] != unknown) return m_frameAt[module];
    const models::Module& record = m_fold.tree.modules[module];
    int frame = frameOf(record.parent);
    if (m_fold.foldable(module) && !record.ops.empty() && m_boxOf[module] < 0) {
        m_graph.frames.push_back({.module = module, .parent = frame, .path = record.path, .title = {}});
        frame = static_cast<int>(m_graph.frames.size()) - 1;
    }
    return m_frameAt[module] = frame;
}

void FoldBuilder::frameNodes()
{
    for (VisibleNode& node : m_graph.nodes) {
        if (node.prologue) continue;
        const int module = node.module >= 0 ? m_fold.tree.modules[node.module].parent : m_fold.tree.moduleOf[node.op];
        node.frame = frameOf(module);
    }
}

}  // namespace hopscope::graphview
