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
    std::int64_t edges = 0;  // rmat, sbm, er; for other kinds it follows from `nodes`
    std::int64_t features = 16;
    std::uint64_t seed = 1;
    bool symmetric = false;        // both directions of each edge, no self-loops, no duplicates, ids shuffled
    std::int64_t communities = 0;  // sbm; 0: nodes / 500
    double inside = 0.9;           // sbm: share of edges that are drawn inside a community
    int threads = 0;               // 0: all cores; does not affect the result
};

// Writes `x` float32 [N, F], standard normal, and `edge_index` int64 [2, E] (row 0 sources, row 1 destinations) to a
// .safetensors file. Features are streamed, so memory does not depend on their size. The same options give the same
// bytes on every machine and with any number of threads. Fails with Usage if the request is impossible, with Resources
// if memory or the disk is insufficient, and with Cancelled if it is stopped; no failure leaves a file.
//
// rmat, sbm and er have `edges` independent draws, including self-loops and duplicates; RMAT (a, b, c = 0.57, 0.19,
// 0.19) draws ids below the next power of two, and repeats a draw with an id >= N. In a grid, node i is at (i / C, i %
// C) with C = ceil(sqrt(N)), and has edges to the right and down. In a star, all other nodes have an edge to node 0; in
// a path, node i has one to i + 1. With `symmetric`, `edges` counts both directions (an odd number is rounded down),
// and columns are sorted by destination, then source, which takes 16 bytes of memory per edge.
base::Status generate(const GenerateOptions& options, const std::string& path, const base::ProgressFn& progress,
                      std::stop_token stop);

}  // namespace hopscope::graph
