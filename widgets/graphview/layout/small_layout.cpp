#include "graphview/layout/small_layout.h"

#include <QCryptographicHash>
#include <algorithm>
#include <numeric>

#include "graphview/fold/strong_components.h"

namespace hopscope::graphview {

namespace {

constexpr std::size_t maxDotNodes = 220;
constexpr long maxDotRanks = 2600;      // ranks that all edges together pass through
constexpr std::size_t maxInLayer = 48;  // wider layers are broken into several
constexpr int sweeps = 4;
constexpr qreal sameRow = 0.5;  // centres of a row are not further apart

int count(const SmallGraph& graph) { return static_cast<int>(graph.sizes.size()); }

class Layered {
public:
    explicit Layered(const SmallGraph& graph) : m_graph(graph), m_out(count(graph), graph.edges), m_in(inverse(graph))
    {}
    SmallLayout run(const std::stop_token& stop);

private:
    static Successors inverse(const SmallGraph& graph)
    {
        auto edges = graph.edges;
        for (auto& edge : edges) std::swap(edge.first, edge.second);
        return {count(graph), edges};
    }
    void makeLayers();
    void order(std::vector<int>& layer, const Successors& neighbours);
    void place(const std::vector<int>& layer, const Successors& neighbours);
    qreal wanted(int node, const Successors& neighbours) const;
    SmallLayout finish() const;

    const SmallGraph& m_graph;
    Successors m_out, m_in;
    std::vector<std::vector<int>> m_layers;
    std::vector<qreal> m_x;
};

void Layered::makeLayers()
{
    const std::vector<int> layers = longestPathLayers(m_graph);
    std::vector<std::vector<int>> whole;
    for (int node = 0; node < count(m_graph); ++node) {
        if (static_cast<std::size_t>(layers[node]) >= whole.size()) whole.resize(layers[node] + 1);
        whole[layers[node]].push_back(node);
    }
    for (const auto& layer : whole)
        for (std::size_t begin = 0; begin < layer.size(); begin += maxInLayer)
            m_layers.emplace_back(layer.begin() + begin, layer.begin() + std::min(begin + maxInLayer, layer.size()));
}

qreal Layered::wanted(int node, const Successors& neighbours) const
{
    qreal sum = 0;
    const int begin = neighbours.begin[node], end = neighbours.begin[node + 1];
    for (int at = begin; at < end; ++at) sum += m_x[neighbours.items[at]];
    return begin == end ? m_x[node] : sum / (end - begin);
}

void Layered::order(std::vector<int>& layer, const Successors& neighbours)
{
    std::vector<std::pair<qreal, int>> keyed;
    for (int node : layer) keyed.emplace_back(wanted(node, neighbours), node);
    std::stable_sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t i = 0; i < layer.size(); ++i) layer[i] = keyed[i].second;
}

// As near to where the neighbours are as the order and the gaps allow: the mean of pushing right and pushing left.
void Layered::place(const std::vector<int>& layer, const Successors& neighbours)
{
    const std::size_t size = layer.size();
    std::vector<qreal> right(size), left(size), want(size);
    const auto gap = [&](std::size_t i) {
        return (m_graph.sizes[layer[i]].width() + m_graph.sizes[layer[i + 1]].width()) / 2 + nodeGap;
    };
    for (std::size_t i = 0; i < size; ++i) want[i] = wanted(layer[i], neighbours);
    for (std::size_t i = 0; i < size; ++i) right[i] = i == 0 ? want[0] : std::max(want[i], right[i - 1] + gap(i - 1));
    for (std::size_t i = size; i-- > 0;) left[i] = i + 1 == size ? want[i] : std::min(want[i], left[i + 1] - gap(i));
    for (std::size_t i = 0; i < size; ++i) m_x[layer[i]] = (right[i] + left[i]) / 2;
}

SmallLayout Layered::finish() const
{
    SmallLayout result;
    result.centres.resize(m_graph.sizes.size());
    qreal left = 0, right = 0, y = 0;
    for (const auto& layer : m_layers) {
        qreal height = 0;
        for (int node : layer) height = std::max(height, m_graph.sizes[node].height());
        for (int node : layer) {
            result.centres[node] = {m_x[node], y + height / 2};
            const qreal half = m_graph.sizes[node].width() / 2;
            left = std::min(left, m_x[node] - half);
            right = std::max(right, m_x[node] + half);
        }
        y += height + rankGap;
    }
    for (QPointF& centre : result.centres) centre.rx() -= left;
    result.size = {right - left, std::max<qreal>(0, y - rankGap)};
    return result;
}

SmallLayout Layered::run(const std::stop_token& stop)
{
    makeLayers();
    m_x.assign(m_graph.sizes.size(), 0);
    for (const auto& layer : m_layers) place(layer, m_in);
    for (int sweep = 0; sweep < sweeps && !stop.stop_requested(); ++sweep) {
        for (auto& layer : m_layers) order(layer, m_in), place(layer, m_in);
        for (auto layer = m_layers.rbegin(); layer != m_layers.rend(); ++layer)
            order(*layer, m_out), place(*layer, m_out);
    }
    for (const auto& layer : m_layers) place(layer, m_in);
    return finish();
}

bool isChain(const SmallGraph& graph)
{
    if (graph.edges.size() + 1 != graph.sizes.size()) return false;
    std::vector<int> in(graph.sizes.size()), out(graph.sizes.size());
    for (const auto& [from, to] : graph.edges)
        if (++out[from] > 1 || ++in[to] > 1) return false;
    return true;
}

}  // namespace

QByteArray contentHash(const SmallGraph& graph)
{
    QCryptographicHash hash(QCryptographicHash::Md5);
    const auto add = [&](double value) {
        hash.addData(QByteArrayView(reinterpret_cast<const char*>(&value), sizeof value));
    };
    add(count(graph));
    for (const QSizeF& size : graph.sizes) add(size.width());
    for (const auto& [from, to] : graph.edges) add(from), add(to);
    return hash.result();
}

SmallLayout withHeights(const SmallGraph& graph, SmallLayout layout)
{
    std::vector<std::pair<qreal, int>> order;
    for (const QPointF& centre : layout.centres) order.emplace_back(centre.y(), static_cast<int>(order.size()));
    std::sort(order.begin(), order.end());
    qreal top = 0;
    for (auto row = order.begin(); row != order.end();) {
        const auto next =
            std::find_if(row, order.end(), [&](const auto& at) { return at.first > row->first + sameRow; });
        qreal height = 0;
        for (auto at = row; at != next; ++at) height = std::max(height, graph.sizes[at->second].height());
        for (auto at = row; at != next; ++at) layout.centres[at->second].setY(top + height / 2);
        top += height + rankGap;
        row = next;
    }
    layout.size.setHeight(std::max<qreal>(0, top - rankGap));
    return layout;
}

std::vector<int> longestPathLayers(const SmallGraph& graph)
{
    const Successors out(count(graph), graph.edges);
    std::vector<int> layers(count(graph), 0);
    for (int node : topologicalOrder(out))
        for (int at = out.begin[node]; at < out.begin[node + 1]; ++at)
            layers[out.items[at]] = std::max(layers[out.items[at]], layers[node] + 1);
    return layers;
}

std::optional<SmallLayout> trivialLayout(const SmallGraph& graph)
{
    if (graph.sizes.empty()) return SmallLayout{};
    if (!isChain(graph)) return std::nullopt;
    SmallLayout result;
    result.centres.resize(graph.sizes.size());
    qreal width = 0, y = 0;
    for (const QSizeF& size : graph.sizes) width = std::max(width, size.width());
    for (int node : topologicalOrder(Successors(count(graph), graph.edges))) {
        result.centres[node] = {width / 2, y + graph.sizes[node].height() / 2};
        y += graph.sizes[node].height() + rankGap;
    }
    result.size = {width, y - rankGap};
    return result;
}

bool suitsDot(const SmallGraph& graph)
{
    if (graph.sizes.size() > maxDotNodes) return false;
    const std::vector<int> layers = longestPathLayers(graph);
    long ranks = 0;
    for (const auto& [from, to] : graph.edges) ranks += layers[to] - layers[from];
    return ranks <= maxDotRanks;
}

SmallLayout layeredLayout(const SmallGraph& graph, const std::stop_token& stop) { return Layered(graph).run(stop); }

}  // namespace hopscope::graphview
