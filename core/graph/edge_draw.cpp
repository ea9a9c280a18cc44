#include "graph/edge_draw.h"

#include <algorithm>
#include <bit>

#include "graph/random.h"

namespace hopscope::graph {

namespace {

// Sixteenths of the 64-bit draw decide one level each: four levels per draw.
constexpr std::uint64_t kA = 37356, kAB = 49807, kABC = 62259;  // of 65536: 0.57, 0.76, 0.95

std::int64_t ceilSqrt(std::int64_t n)
{
    std::int64_t root = 1;
    while (root * root < n) root *= 2;
    for (std::int64_t step = root / 2; step > 0; step /= 2)
        if ((root - step) * (root - step) >= n) root -= step;
    return root;
}

}  // namespace

EdgeDraw::EdgeDraw(const GenerateOptions& options)
    : m_options(options),
      m_key(streamKey(options.seed, 1)),
      m_levels(options.nodes > 1 ? std::bit_width(static_cast<std::uint64_t>(options.nodes - 1)) : 0),
      m_columns(ceilSqrt(options.nodes))
{
    m_communities = options.communities > 0 ? options.communities : std::max<std::int64_t>(options.nodes / 500, 1);
    m_size = std::max<std::int64_t>(options.nodes / m_communities, 1);
}

bool EdgeDraw::random() const
{
    return m_options.kind == GraphKind::Rmat || m_options.kind == GraphKind::Sbm ||
           m_options.kind == GraphKind::ErdosRenyi;
}

std::int64_t EdgeDraw::count() const
{
    if (random()) return m_options.edges;
    const std::int64_t n = m_options.nodes;
    if (n == 0) return 0;
    if (m_options.kind != GraphKind::Grid) return n - 1;
    return (n - 1 - (n - 1) / m_columns) + std::max<std::int64_t>(n - m_columns, 0);
}

Edge EdgeDraw::operator()(std::int64_t index) const
{
    switch (m_options.kind) {
    case GraphKind::Rmat: return rmat(index);
    case GraphKind::Sbm: return sbm(index);
    case GraphKind::Grid: return grid(index);
    case GraphKind::Star: return {index + 1, 0};
    case GraphKind::Path: return {index, index + 1};
    case GraphKind::ErdosRenyi: break;
    }
    return uniform(index);
}

Edge EdgeDraw::rmat(std::int64_t index) const
{
    Draws draws(m_key, static_cast<std::uint64_t>(index));
    for (;;) {
        std::uint64_t source = 0, target = 0, bits = 0;
        for (int level = 0; level < m_levels; ++level) {
            bits = level % 4 == 0 ? draws.bits() : bits >> 16U;
            const std::uint64_t r = bits & 0xFFFFU;
            const auto down = static_cast<std::uint64_t>(r >= kAB);
            const auto right = static_cast<std::uint64_t>(r >= kA) ^ down ^ static_cast<std::uint64_t>(r >= kABC);
            source = source << 1U | down;
            target = target << 1U | right;
        }
        const Edge edge{static_cast<std::int64_t>(source), static_cast<std::int64_t>(target)};
        if (std::max(edge.source, edge.target) < m_options.nodes) return edge;
    }
}

Edge EdgeDraw::sbm(std::int64_t index) const
{
    Draws draws(m_key, static_cast<std::uint64_t>(index));
    const std::int64_t source = draws.below(m_options.nodes);
    if (draws.unit() >= m_options.inside) return {source, draws.below(m_options.nodes)};
    const std::int64_t community = std::min(source / m_size, m_communities - 1);
    const std::int64_t first = community * m_size;
    const std::int64_t last = community + 1 == m_communities ? m_options.nodes : first + m_size;
    return {source, first + draws.below(last - first)};
}

// First all downward edges, then those to the right: each full row has one fewer of them than columns.
Edge EdgeDraw::grid(std::int64_t index) const
{
    const std::int64_t downward = std::max<std::int64_t>(m_options.nodes - m_columns, 0);
    if (index < downward) return {index, index + m_columns};
    const std::int64_t across = index - downward, width = m_columns - 1;
    const std::int64_t node = across / width * m_columns + across % width;
    return {node, node + 1};
}

Edge EdgeDraw::uniform(std::int64_t index) const
{
    Draws draws(m_key, static_cast<std::uint64_t>(index));
    const std::int64_t source = draws.below(m_options.nodes);
    return {source, draws.below(m_options.nodes)};
}

}  // namespace hopscope::graph
