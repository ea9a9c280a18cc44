#include "layout/dot_layout.h"

#include <graphviz/gvc.h>

#include <cstdio>
#include <string>

namespace hopscope::layout {

namespace {

constexpr double pointsPerInch = 72;
constexpr double maxSize = 1e6;
constexpr int maxWeight = 1000;

using Nodes = std::vector<Agnode_t*>;

// The older Graphviz functions take constant text as char*.
void setDefault(Agraph_t* graph, int kind, std::string name, std::string value)
{
    agattr(graph, kind, name.data(), value.data());
}

void setNumber(void* object, std::string name, double value)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", value);
    agset(object, name.data(), text);
}

void setDefaults(Agraph_t* graph)
{
    setDefault(graph, AGRAPH, "rankdir", "TB");
    setDefault(graph, AGRAPH, "splines", "false");
    setDefault(graph, AGRAPH, "nodesep", "0.3");
    setDefault(graph, AGRAPH, "ranksep", "0.3");
    setDefault(graph, AGNODE, "shape", "box");
    setDefault(graph, AGNODE, "fixedsize", "true");
    setDefault(graph, AGNODE, "label", "");
    setDefault(graph, AGNODE, "width", "1");
    setDefault(graph, AGNODE, "height", "0.5");
    setDefault(graph, AGEDGE, "weight", "1");
}

Nodes addNodes(Agraph_t* graph, const std::vector<Point>& sizes)
{
    Nodes nodes;
    nodes.reserve(sizes.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        Agnode_t* node = agnode(graph, std::to_string(i).data(), 1);
        setNumber(node, "width", sizes[i].x / pointsPerInch);
        setNumber(node, "height", sizes[i].y / pointsPerInch);
        nodes.push_back(node);
    }
    return nodes;
}

void addEdges(Agraph_t* dot, const Nodes& nodes, const Graph& graph)
{
    for (std::size_t i = 0; i < graph.edges.size(); ++i) {
        const auto& [from, to] = graph.edges[i];
        if (from == to) continue;
        Agedge_t* edge = agedge(dot, nodes[from], nodes[to], nullptr, 1);
        if (!graph.weights.empty()) setNumber(edge, "weight", graph.weights[i]);
    }
}

Placement placementOf(Agraph_t* graph, const Nodes& nodes)
{
    const boxf box = GD_bb(graph);
    Placement placement{{}, {box.UR.x - box.LL.x, box.UR.y - box.LL.y}};
    placement.centres.reserve(nodes.size());
    for (Agnode_t* node : nodes) {
        const pointf at = ND_coord(node);
        placement.centres.push_back({at.x - box.LL.x, box.UR.y - at.y});
    }
    return placement;
}

bool inRange(double size) { return size > 0 && size <= maxSize; }

base::Status check(const Graph& graph)
{
    const auto fail = [](const char* message) { return base::fail(base::ErrorCode::Input, message); };
    if (graph.sizes.size() > maxNodes || graph.edges.size() > maxEdges) return fail("the graph is too large for dot");
    for (const Point& size : graph.sizes)
        if (!inRange(size.x) || !inRange(size.y)) return fail("a node's size is out of range");
    if (!inRange(graph.nodeGap) || !inRange(graph.rankGap)) return fail("a gap is out of range");
    const auto known = [&](int node) { return node >= 0 && static_cast<std::size_t>(node) < graph.sizes.size(); };
    for (const auto& [from, to] : graph.edges)
        if (!known(from) || !known(to)) return fail("an edge refers to a missing node");
    if (!graph.weights.empty() && graph.weights.size() != graph.edges.size())
        return fail("there are not as many weights as edges");
    for (int weight : graph.weights)
        if (weight < 1 || weight > maxWeight) return fail("a weight is out of range");
    return {};
}

int keepQuiet(char*) { return 0; }

}  // namespace

struct DotLayout::Context {
    GVC_t* gvc = gvContext();
    ~Context() { gvFreeContext(gvc); }
};

DotLayout::DotLayout() : m_context(std::make_unique<Context>()) { agseterrf(keepQuiet); }

DotLayout::~DotLayout() = default;

base::Result<Placement> DotLayout::run(const Graph& graph)
{
    if (auto checked = check(graph); !checked) return tl::unexpected(checked.error());
    if (graph.sizes.empty()) return Placement{};
    Agraph_t* dot = agopen(std::string("g").data(), Agdirected, nullptr);
    setDefaults(dot);
    setNumber(dot, "nodesep", graph.nodeGap / pointsPerInch);
    setNumber(dot, "ranksep", graph.rankGap / pointsPerInch);
    const Nodes nodes = addNodes(dot, graph.sizes);
    addEdges(dot, nodes, graph);
    base::Result<Placement> result = base::fail(base::ErrorCode::Internal, "dot found no layout");
    if (gvLayout(m_context->gvc, dot, "dot") == 0) {
        result = placementOf(dot, nodes);
        gvFreeLayout(m_context->gvc, dot);
    }
    agclose(dot);
    return result;
}

}  // namespace hopscope::layout
