#pragma once

// The colouring of the source documents, read literally: black values are stored, black edges read back; every path
// between two hops has a black edge. One minimum cut; a lower bound for teaching, not an executable plan.

#include <vector>

#include "optimiser/instance.h"

namespace hopscope::optimiser {

struct Colouring {
    double cost = 0;
    std::vector<NodeId> blackNodes;
    std::vector<Edge> blackEdges;
};

// Of several optima the one whose cuts are as late as possible. An edge costs a frontier read if the use leads to a gather, else a read on D; a black value costs its write.
Colouring literalColouring(const Instance& instance);

// A bound on the cost of every legal placement, without a solver: each op computed, output written, input read and
// relation loaded once, plus a minimum cut through what has to be written and read between hops. Not sharp (20-30 %).
double cutBound(const Instance& instance);

}  // namespace hopscope::optimiser
