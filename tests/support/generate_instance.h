#pragma once

// Random instances that look like graph neural networks, for tests and benchmarks.

#include <cstdint>
#include <string>
#include <vector>

#include "optimiser/instance.h"

namespace hopscope::optimiser {

// Nine families: chain, residual, jk (jumping knowledge), dense, gcnii (initial residual), parallel (hops side by side),
// gat (attention as primitives with edge rows), hetero (relations side by side), mixed.
const std::vector<std::string>& families();

struct GenerateOptions {
    std::string family = "chain";
    int nodes = 50;  // about
    int layers = 0;  // rounds of message passing; 0: by size
    int types = 1;   // 2: values of the same layers on two node types
    std::uint64_t seed = 1;
};

// Layers of message passing with element-wise chains, gates, norms and MLP blocks between them. Costs per row: a frontier
// has 1.5-10 rows per destination, an element-wise op costs 0.005-0.06 of a read. `stages` is neededStages(). The same
// options give the same instance on every machine. The result passes check().
Instance generate(const GenerateOptions& options);

}  // namespace hopscope::optimiser
