#include "layout/messages.h"

#include <limits>
#include <optional>

#include "json/json.h"

namespace hopscope::layout {

namespace {

using json::Value;

base::Status wrong(const std::string& where, const char* what)
{
    return base::fail(base::ErrorCode::Input, std::string("the request has ") + what, {}, where);
}

std::optional<double> number(const Value& value)
{
    if (const auto* whole = value.asInt()) return static_cast<double>(*whole);
    if (const auto* real = value.asDouble()) return *real;
    return std::nullopt;
}

std::optional<Point> pair(const Value& value)
{
    const auto* items = value.asArray();
    if (!items || items->size() != 2) return std::nullopt;
    const auto first = number((*items)[0]), second = number((*items)[1]);
    if (!first || !second) return std::nullopt;
    return Point{*first, *second};
}

// Calls take(point) for every pair of the list.
template <class Take>
base::Status forPairs(const Value& request, const char* key, Take take)
{
    const Value* list = request.find(key);
    if (!list || !list->isArray()) return wrong(std::string("/") + key, "no such list");
    for (std::size_t i = 0; i < list->size(); ++i) {
        const auto point = pair((*list->asArray())[i]);
        if (!point || !take(*point)) return wrong("/" + std::string(key) + "/" + std::to_string(i), "a wrong pair");
    }
    return {};
}

bool isIndex(double value)
{
    return value >= 0 && value <= std::numeric_limits<int>::max() && value == static_cast<int>(value);
}

base::Status readWeights(const Value& request, Graph& graph)
{
    const Value* list = request.find("weights");
    if (!list) return {};
    if (!list->isArray()) return wrong("/weights", "no list of weights");
    for (const Value& item : *list->asArray()) {
        const auto weight = number(item);
        if (!weight || !isIndex(*weight))
            return wrong("/weights", "a weight that is not a whole number from 0 to 2147483647");
        graph.weights.push_back(static_cast<int>(*weight));
    }
    return {};
}

base::Status readGraph(const Value& request, Graph& graph)
{
    const auto size = [&](Point point) { return graph.sizes.push_back(point), true; };
    const auto edge = [&](Point ends) {
        if (!isIndex(ends.x) || !isIndex(ends.y)) return false;
        graph.edges.emplace_back(static_cast<int>(ends.x), static_cast<int>(ends.y));
        return true;
    };
    if (auto nodes = forPairs(request, "nodes", size); !nodes) return nodes;
    if (auto edges = forPairs(request, "edges", edge); !edges) return edges;
    if (auto weights = readWeights(request, graph); !weights) return weights;
    const Value* gaps = request.find("gaps");
    if (!gaps) return {};
    const auto both = pair(*gaps);
    if (!both) return wrong("/gaps", "a wrong pair");
    graph.nodeGap = both->x;
    graph.rankGap = both->y;
    return {};
}

Value pairValue(Point point) { return Value(json::Array{Value(point.x), Value(point.y)}); }

}  // namespace

base::Result<Request> readRequest(std::string_view text)
{
    const auto document = json::parse(text, "request");
    if (!document) return base::forward(document);
    const Value* id = document->find("id");
    if (!id || !id->asInt()) return tl::unexpected(wrong("/id", "no number").error());
    Request request{*id->asInt(), {}};
    if (auto read = readGraph(*document, request.graph); !read) return tl::unexpected(read.error());
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
