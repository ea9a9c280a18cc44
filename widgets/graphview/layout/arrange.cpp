#include "graphview/layout/arrange.h"

#include <algorithm>

namespace hopscope::graphview {

namespace {

constexpr qreal maxWidening = 1.4;  // a box may grow so much to have its way in and out in the middle

// To the bit: Qt compares sizes with a tolerance.
bool equal(const QSizeF& a, const QSizeF& b) { return a.width() == b.width() && a.height() == b.height(); }

}  // namespace

const SmallLayout* FrameLayouts::find(int module, const SmallGraph& graph) const
{
    const auto known = m_known.find(module);
    if (known == m_known.end()) return nullptr;
    const SmallGraph& asked = known->second.graph;
    const bool same = asked.edges == graph.edges && std::ranges::equal(asked.sizes, graph.sizes, equal);
    return same ? &known->second.layout : nullptr;
}

void FrameLayouts::keep(int module, const SmallGraph& graph, const SmallLayout& layout)
{
    m_known.insert_or_assign(module, Known{.graph = graph, .layout = layout});
}

Arranger::Arranger(const VisibleGraph& graph, std::vector<QSizeF> sizes, FrameLayouts& known)
    : m_known(known),
      m_nodes(static_cast<int>(graph.nodes.size())),
      m_sizes(std::move(sizes))
{
    m_sizes.resize(m_nodes + graph.frames.size());
    m_centres.resize(m_sizes.size());
    m_outside.assign(m_sizes.size(), 0);
    addUnits(graph);
    addItems(graph);
    addEdges(graph);
    for (const Unit& unit : m_units) m_round = std::max(m_round, unit.level);
}

void Arranger::addUnits(const VisibleGraph& graph)
{
    m_units.resize(graph.frames.size() + 1);
    for (std::size_t frame = 0; frame < graph.frames.size(); ++frame) {
        Unit& unit = m_units[frame + 1];
        unit.frame = static_cast<int>(frame);
        unit.module = graph.frames[frame].module;
        unit.level = m_units[unitOf(graph.frames[frame].parent)].level + 1;
    }
}

void Arranger::addItems(const VisibleGraph& graph)
{
    constexpr int nowhere = -1;
    std::vector<std::size_t> begin(m_units.size() + 1);
    m_parent.reserve(m_sizes.size());
    for (const VisibleNode& node : graph.nodes) m_parent.push_back(node.prologue ? nowhere : unitOf(node.frame));
    for (const Frame& frame : graph.frames) m_parent.push_back(unitOf(frame.parent));
    for (const int unit : m_parent)
        if (unit != nowhere) ++begin[unit + 1];
    for (std::size_t unit = 0; unit < m_units.size(); ++unit) begin[unit + 1] += begin[unit];
    m_items.resize(begin.back());
    for (std::size_t unit = 0; unit < m_units.size(); ++unit) m_units[unit].items = {m_items.data() + begin[unit], 0};
    m_slot.resize(m_sizes.size());
    for (std::size_t item = 0; item < m_parent.size(); ++item) {
        if (m_parent[item] == nowhere) continue;
        std::span<int>& items = m_units[m_parent[item]].items;
        m_slot[item] = static_cast<int>(items.size());
        items = {items.data(), items.size() + 1};
        items.back() = static_cast<int>(item);
    }
}

// The slots that an edge connects in the innermost unit around both of its ends; the units that it leaves and enters on
// its way there are connected to the outside.
Arranger::Edge Arranger::lifted(const VisibleEdge& edge, int& unit)
{
    int from = edge.from, to = edge.to;
    const auto climb = [&](int& item) {
        m_outside[item] = 1;
        item = m_nodes + m_units[m_parent[item]].frame;
    };
    const auto level = [&](int item) { return m_units[m_parent[item]].level; };
    while (level(from) > level(to)) climb(from);
    while (level(to) > level(from)) climb(to);
    while (m_parent[from] != m_parent[to]) climb(from), climb(to);
    unit = m_parent[from];
    return {m_slot[from], m_slot[to]};
}

void Arranger::addEdges(const VisibleGraph& graph)
{
    std::vector<std::pair<int, Edge>> edges;
    edges.reserve(graph.edges.size());
    for (const VisibleEdge& edge : graph.edges) {
        if (graph.nodes[edge.from].prologue || graph.nodes[edge.to].prologue) continue;
        int unit = 0;
        const Edge ends = lifted(edge, unit);
        if (ends.first != ends.second) edges.emplace_back(unit, ends);
    }
    keepEdges(edges);
}

void Arranger::keepEdges(const std::vector<std::pair<int, Edge>>& edges)
{
    std::vector<std::size_t> begin(m_units.size() + 1);
    for (const auto& [unit, edge] : edges) ++begin[unit + 1];
    for (std::size_t unit = 0; unit < m_units.size(); ++unit) begin[unit + 1] += begin[unit];
    m_edges.resize(edges.size());
    std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
    for (const auto& [unit, edge] : edges) m_edges[next[unit]++] = edge;
    for (std::size_t unit = 0; unit < m_units.size(); ++unit) {
        const std::span<Edge> all(m_edges.data() + begin[unit], m_edges.data() + begin[unit + 1]);
        std::ranges::sort(all);
        const auto end = std::unique(all.begin(), all.end());  // std::ranges::unique is beyond clang-tidy's front end
        m_units[unit].edges = all.first(static_cast<std::size_t>(end - all.begin()));
    }
}

std::vector<SmallGraph> Arranger::nextRound()
{
    for (; m_round >= 0; --m_round)
        if (std::vector<SmallGraph> unknown = unknownGraphs(); !unknown.empty()) return unknown;
    return {};
}

void Arranger::fill(SmallGraph& graph, const Unit& unit) const
{
    graph.sizes.clear();
    for (int item : unit.items) graph.sizes.push_back(m_sizes[item]);
    graph.edges.assign(unit.edges.begin(), unit.edges.end());
}

// The unknown graphs of this round; known layouts are placed at once.
std::vector<SmallGraph> Arranger::unknownGraphs()
{
    std::vector<SmallGraph> unknown;
    SmallGraph graph;
    m_asked.clear();
    for (std::size_t i = 0; i < m_units.size(); ++i) {
        if (m_units[i].level != m_round) continue;
        fill(graph, m_units[i]);
        if (const SmallLayout* layout = m_known.find(m_units[i].module, graph)) {
            take(m_units[i], *layout);
            continue;
        }
        m_asked.push_back(static_cast<int>(i));
        unknown.push_back(graph);
    }
    return unknown;
}

void Arranger::answer(const std::vector<SmallLayout>& layouts)
{
    SmallGraph graph;
    for (std::size_t i = 0; i < m_asked.size(); ++i) {
        Unit& unit = m_units[m_asked[i]];
        fill(graph, unit);
        m_known.keep(unit.module, graph, layouts[i]);
        take(unit, layouts[i]);
    }
    --m_round;
}

void Arranger::take(Unit& unit, const SmallLayout& layout)
{
    for (std::size_t i = 0; i < unit.items.size(); ++i)
        m_centres[unit.items[i]] = {onGrid(layout.centres[i].x()), onGrid(layout.centres[i].y())};
    if (unit.frame >= 0) frameSize(unit, layout);
}

// A box around the contents, wide enough that edges enter and leave at its middle: then chains of boxes are straight.
void Arranger::frameSize(Unit& unit, const SmallLayout& layout)
{
    std::vector<qreal> ends;
    for (int item : unit.items)
        if (m_outside[item]) ends.push_back(m_centres[item].x());
    std::sort(ends.begin(), ends.end());
    const qreal width = onGrid(layout.size.width()), height = onGrid(layout.size.height());
    const qreal spine = ends.empty() ? width / 2 : ends[(ends.size() - 1) / 2];
    const qreal wide = onGrid(std::min(2 * std::max(spine, width - spine), maxWidening * width));
    const qreal left = wide > width && spine < width / 2 ? wide - width : 0;
    unit.offset = {frameSide + left, frameTitle};
    m_sizes[m_nodes + unit.frame] = {wide + 2 * frameSide, height + frameTitle + framePad};
}

void Arranger::spread(const Unit& unit, QPointF origin, std::vector<QRectF>& rects) const
{
    for (int item : unit.items) {
        const QSizeF size = m_sizes[item];
        const QPointF corner = origin + unit.offset + m_centres[item] - QPointF(size.width(), size.height()) / 2;
        if (item < m_nodes) rects[item] = {corner, size};
        else spread(m_units[unitOf(item - m_nodes)], corner, rects);
    }
}

std::vector<QRectF> Arranger::rects() const
{
    std::vector<QRectF> rects(m_nodes);
    spread(m_units[0], {}, rects);
    return rects;
}

}  // namespace hopscope::graphview
