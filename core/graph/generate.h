#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

#include "base/names.h"
#include "base/progress.h"
#include "base/result.h"

namespace hopscope::graph {

enum class GraphKind : std::uint8_t { Rmat, Sbm, Grid, Star, Path, ErdosRenyi };

constexpr auto namesOf(GraphKind)
{
    return std::to_array<base::Named<GraphKind>>({{GraphKind::Rmat, "rmat"},
                                                  {GraphKind::Sbm, "sbm"},
                                                  {GraphKind::Grid, "grid"},
                                                  {GraphKind::Star, "star"},
                                                  {GraphKind::Path, "path"},
                                                  {GraphKind::ErdosRenyi, "er"}});
}

base::Result<GraphKind> parseGraphKind(const std::string& name);

struct GenerateOptions {
    GraphKind kind = GraphKind::Rmat;
    std::int64_t nodes = 0;
    std::int64_t edges = 0;  // rmat, sbm, er; the others follow from nodes
    std::int64_t features = 16;
    std::uint64_t seed = 1;
    bool symmetric = false;        // both directions of each edge, no self-loops, no duplicates, ids shuffled
    std::int64_t communities = 0;  // sbm: 0 = nodes / 500
    double inside = 0.9;           // sbm: share of edges inside a community
    int threads = 0;               // 0: all cores; never changes the result
};

// Writes `x` float32 [N, F], standard normal, and `edge_index` int64 [2, E] (row 0 sources, row 1 destinations) to a
// .safetensors file, streaming: memory does not grow with the features. The same options give the same bytes on every
// machine and thread count. A request that cannot be met (more edges than pairs, ...) fails with Usage, a stop with
// Cancelled; neither leaves a file.
//
// rmat, sbm, er: `edges` independent draws, self-loops and duplicates included; RMAT draws in the next power of two and
// again where an id is >= N (a, b, c = 0.57, 0.19, 0.19). grid: node i = (i / C, i % C), C = ceil(sqrt(N)), edges to
// the right and down. star: all nodes to node 0. path: i to i + 1. `symmetric`: `edges` counts both directions (an odd
// number is rounded down), columns are sorted by destination, then source; this needs 16 bytes of memory per edge for
// sorting.
base::Status generate(const GenerateOptions& options, const std::string& path, const base::ProgressFn& progress,
                      std::stop_token stop);

}  // namespace hopscope::graph
