#include "layout/messages.h"

#include "json/reader.h"

namespace hopscope::layout {

namespace {

using json::Reader;
using json::Value;

Point pairFrom(const Reader& reader)
{
    const std::vector<double> both = reader.as<std::vector<double>>();
    if (both.size() == 2) return {both[0], both[1]};
    reader.refuse("must be two numbers");
    return {};
}

std::pair<int, int> edgeFrom(const Reader& reader)
{
    const std::vector<int> ends = reader.as<std::vector<int>>();
    if (ends.size() == 2 && ends[0] >= 0 && ends[1] >= 0) return {ends[0], ends[1]};
    reader.refuse("must be two whole numbers from 0");
    return {};
}

Graph graphFrom(const Reader& root)
{
    Graph graph;
    for (const Reader& size : root.items("nodes")) graph.sizes.push_back(pairFrom(size));
    for (const Reader& edge : root.items("edges")) graph.edges.push_back(edgeFrom(edge));
    graph.weights = root.maybe<std::vector<int>>("weights").value_or(std::vector<int>());
    if (!root.has("gaps")) return graph;
    const Point gaps = pairFrom(root.child("gaps"));
    graph.nodeGap = gaps.x;
    graph.rankGap = gaps.y;
    return graph;
}

Value pairValue(Point point) { return Value(json::Array{Value(point.x), Value(point.y)}); }

}  // namespace

base::Result<Request> readRequest(std::string_view text)
{
    const auto document = json::parse(text, "request");
    if (!document) return base::forward(document);
    const Reader root(*document, "request");
    Request request{root.get<std::int64_t>("id"), graphFrom(root)};
    if (!root.ok()) return base::forward(root.status());
    return request;
}

std::string writeAnswer(std::int64_t id, const base::Result<Placement>& placement)
{
    Value answer = Value::object();
    answer["id"] = id;
    if (!placement) {
        answer["error"] = placement.error().message;
        return json::write(answer);
    }
    Value centres = Value::array();
    for (const Point& centre : placement->centres) centres.push(pairValue(centre));
    answer["centres"] = std::move(centres);
    answer["size"] = pairValue(placement->size);
    return json::write(answer);
}

}  // namespace hopscope::layout
