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
      m_sizes(std::move(sizes)),
      m_nodes(static_cast<int>(graph.nodes.size()))
{
    m_units.resize(graph.frames.size() + 1);
    m_level.assign(m_units.size(), 0);
    m_sizes.resize(m_nodes + graph.frames.size());
    for (int node = 0; node < m_nodes; ++node)
        if (!graph.nodes[node].prologue) m_units[unitOf(graph.nodes[node].frame)].items.push_back(node);
    for (std::size_t frame = 0; frame < graph.frames.size(); ++frame) {
        const int parent = unitOf(graph.frames[frame].parent);
        m_units[parent].items.push_back(m_nodes + static_cast<int>(frame));
        m_units[frame + 1].frame = static_cast<int>(frame);
        m_units[frame + 1].module = graph.frames[frame].module;
        m_level[frame + 1] = m_level[parent] + 1;
    }
    addEdges(graph);
    m_round = *std::max_element(m_level.begin(), m_level.end());
}

void Arranger::addEdges(const VisibleGraph& graph)
{
    std::vector<int> slot(m_sizes.size());
    for (Unit& unit : m_units) {
        unit.outside.assign(unit.items.size(), false);
        for (std::size_t i = 0; i < unit.items.size(); ++i) slot[unit.items[i]] = static_cast<int>(i);
    }
    const auto parentOf = [&](int item) {
        return item < m_nodes ? graph.nodes[item].frame : graph.frames[item - m_nodes].parent;
    };
    for (const VisibleEdge& edge : graph.edges) {
        int from = edge.from, to = edge.to;
        if (graph.nodes[from].prologue || graph.nodes[to].prologue) continue;
        const auto climb = [&](int& item) {
            m_units[unitOf(parentOf(item))].outside[slot[item]] = true;
            item = m_nodes + parentOf(item);
        };
        const auto level = [&](int item) { return m_level[unitOf(parentOf(item))]; };
        while (level(from) > level(to)) climb(from);
        while (level(to) > level(from)) climb(to);
        while (parentOf(from) != parentOf(to)) climb(from), climb(to);
        if (from != to) m_units[unitOf(parentOf(from))].graph.edges.emplace_back(slot[from], slot[to]);
    }
    for (Unit& unit : m_units) {
        auto& edges = unit.graph.edges;
        std::sort(edges.begin(), edges.end());
        edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    }
}

std::vector<SmallGraph> Arranger::nextRound()
{
    for (; m_round >= 0; --m_round)
        if (std::vector<SmallGraph> unknown = unknownGraphs(); !unknown.empty()) return unknown;
    return {};
}

// Of this round; what is known takes its place at once.
std::vector<SmallGraph> Arranger::unknownGraphs()
{
    std::vector<SmallGraph> unknown;
    m_asked.clear();
    for (std::size_t i = 0; i < m_units.size(); ++i) {
        if (m_level[i] != m_round) continue;
        Unit& unit = m_units[i];
        for (int item : unit.items) unit.graph.sizes.push_back(m_sizes[item]);
        if (const SmallLayout* layout = m_known.find(unit.module, unit.graph)) {
            take(unit, *layout);
            continue;
        }
        m_asked.push_back(static_cast<int>(i));
        unknown.push_back(unit.graph);
    }
    return unknown;
}

void Arranger::answer(const std::vector<SmallLayout>& layouts)
{
    for (std::size_t i = 0; i < m_asked.size(); ++i) {
        Unit& unit = m_units[m_asked[i]];
        m_known.keep(unit.module, unit.graph, layouts[i]);
        take(unit, layouts[i]);
    }
    --m_round;
}

void Arranger::take(Unit& unit, const SmallLayout& layout)
{
    unit.centres.reserve(layout.centres.size());
    for (const QPointF& centre : layout.centres) unit.centres.emplace_back(onGrid(centre.x()), onGrid(centre.y()));
    if (unit.frame >= 0) frameSize(unit, layout);
}

// A box around the contents, wide enough that what goes in and out is at its middle: then chains of boxes are straight.
void Arranger::frameSize(Unit& unit, const SmallLayout& layout)
{
    std::vector<qreal> ends;
    for (std::size_t i = 0; i < unit.items.size(); ++i)
        if (unit.outside[i]) ends.push_back(unit.centres[i].x());
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
    for (std::size_t i = 0; i < unit.items.size(); ++i) {
        const int item = unit.items[i];
        const QSizeF size = m_sizes[item];
        const QPointF corner = origin + unit.offset + unit.centres[i] - QPointF(size.width(), size.height()) / 2;
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
