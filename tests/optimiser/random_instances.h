#pragma once

// Small instances of every kind for the oracle tests, by seed.

#include <cstdint>
#include <vector>

#include "optimiser/instance.h"
#include "support/tier.h"

namespace hopscope::test {

// One of so many instances is tested: all of them in the full tier (HOPSCOPE_TIER), and fewest under sanitizers, which make
// everything an order of magnitude slower.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline const int share = 10;
#else
inline const int share = oneIn(5);
#endif

// A random graph of at most `nodes` nodes with small whole costs: one or two types, edge rows, structure and stage costs,
// several outputs, now and then flags of nodes and required reads, costs that no real model has, more stages than needed.
optimiser::Instance wildInstance(std::uint64_t seed, int nodes);

// One to three pins of any kind; not necessarily satisfiable.
void addPins(optimiser::Instance& instance, std::uint64_t seed);

// Up to `count` pins that cut edges: a draw that finds an input makes none.
void addCuts(optimiser::Instance& instance, std::uint64_t seed, int count);

// A node "v3" of the first type and relation, without costs.
optimiser::Node nodeFor(const optimiser::Instance& instance, optimiser::NodeKind kind,
                        std::vector<optimiser::NodeId> src, std::vector<optimiser::NodeId> loc);

// A hop, so many ops that use it and each other, and a hop that gathers the last of them, with costs that no real model
// has: where one op is reached from another by several ways, one of the two need not be stored. Every other one has a host
// budget.
optimiser::Instance regionInstance(std::uint64_t seed, int ops);

}  // namespace hopscope::test
