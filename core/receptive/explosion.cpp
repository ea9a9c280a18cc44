#include "receptive/explosion.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "analysis/naming/table_labels.h"
#include "executor/failure.h"
#include "graph/random.h"

namespace hopscope::receptive {

using ir::SpaceId;

namespace {

constexpr std::int64_t leastSample = 4, firstSample = 64;  // the first ones tell what fields cost
constexpr std::int64_t perNode = 200;                      // that a small field costs besides its rows
constexpr std::uint64_t stream = 1;

struct Sum {
    double total = 0, squares = 0;

    void add(double count)
    {
        total += count;
        squares += count * count;
    }
};

struct Counted {
    int depth = 0;
    bool edges = false;
    SpaceId table;
    auto operator<=>(const Counted&) const = default;
};

class Averages {
public:
    Averages(executor::Structure& structure, const analysis::Analysis& analysis, const ExplosionRequest& request)
        : m_structure(structure),
          m_analysis(analysis),
          m_nodes(structure.size(request.table))
    {}

    // Counts that the demand lacks are 0.
    void add(const Demand& demand)
    {
        ++m_seen;
        for (const auto& [needed, rows] : demand.rows)
            m_sums[{.depth = needed.depth, .edges = false, .table = needed.table}].add(
                static_cast<double>(rows->count));
        for (const auto& [depth, edges] : demand.edges)
            for (const auto& [key, rows] : edges)
                m_sums[{.depth = depth, .edges = true, .table = key.first}].add(static_cast<double>(rows->count));
    }

    [[nodiscard]] std::int64_t seen() const { return m_seen; }

    schema::FieldExplosion finish(const std::map<Needed, std::int64_t>& rowBytes, std::uint64_t seed)
    {
        schema::FieldExplosion found;
        found.nodes = m_seen;
        found.seed = seed;
        found.method = m_seen == m_nodes ? schema::MeanMethod::Exact : schema::MeanMethod::Sampled;
        for (auto it = m_sums.rbegin(); it != m_sums.rend(); ++it)
            found.means.push_back(meanOf(it->first, it->second, rowBytes));
        return found;
    }

private:
    schema::FieldMean meanOf(const Counted& counted, const Sum& sum, const std::map<Needed, std::int64_t>& rowBytes)
    {
        const auto n = static_cast<double>(m_seen), nodes = static_cast<double>(m_nodes);
        const double mean = sum.total / n;
        const double variance = m_seen > 1 ? std::max(0.0, (sum.squares - n * mean * mean) / (n - 1)) : 0;
        const auto size = static_cast<double>(m_structure.size(counted.table));
        const auto bytes = rowBytes.find({counted.depth, counted.table});
        const double each = counted.edges || bytes == rowBytes.end() ? 0 : static_cast<double>(bytes->second);
        return {.depth = counted.depth,
                .table = analysis::tableLabel(m_analysis.tables, counted.table),
                .edges = counted.edges,
                .mean = mean,
                .error = m_seen == m_nodes ? 0 : std::sqrt(variance / n),
                .repeated = size > 0 ? mean * nodes / size : 0,
                .bytes = mean * nodes * each,
                .ownBytes = size * each};
    }

    executor::Structure& m_structure;
    const analysis::Analysis& m_analysis;
    std::int64_t m_nodes, m_seen = 0;
    std::map<Counted, Sum> m_sums;
};

}  // namespace

// The first fields tell how many fit. Nodes are drawn without replacement, so that a sample of all is exact.
schema::FieldExplosion explosion(executor::Structure& structure, const analysis::Analysis& analysis, RowMoves& moves,
                                 Backtrack& backtrack, const ExplosionRequest& request, const std::stop_token& stop)
{
    Averages averages(structure, analysis, request);
    const std::int64_t nodes = structure.size(request.table);
    if (nodes == 0) return averages.finish(backtrack.rowBytes(), request.seed);
    const graph::Permutation order(nodes, graph::streamKey(request.seed, stream));
    const std::int64_t before = moves.visited();
    std::int64_t wanted = nodes;
    for (std::int64_t i = 0; i < wanted; ++i) {
        if (stop.stop_requested()) executor::raise(base::ErrorCode::Cancelled, "cancelled");
        averages.add(backtrack.from(request.table, order(i)));
        const std::int64_t seen = i + 1, spent = moves.visited() - before + perNode * seen;
        const bool late = seen >= leastSample && spent > request.budget;
        if (late && seen <= firstSample) wanted = seen;
        else if (seen == firstSample) wanted = std::clamp(request.budget * seen / spent, seen, nodes);
    }
    return averages.finish(backtrack.rowBytes(), request.seed);
}

}  // namespace hopscope::receptive
