#pragma once

// A relaxation of the placement problem: values are stored and read back such that every path between two hops is cut
// at least once. A single minimum cut solves it. The result need not be an executable plan.

#include <vector>

#include "optimiser/instance.h"

namespace hopscope::optimiser {

struct MinCutRelaxation {
    double cost = 0;
    std::vector<NodeId> storedNodes;
    std::vector<Edge> readEdges;
};

// Returns the optimum of the relaxation without pins; of several optima, the one with the latest cuts. An edge costs a
// frontier read if its use leads to a gather, and otherwise a read on D; a stored value costs its write.
MinCutRelaxation minCutRelaxation(const Instance& instance);

// Returns a lower bound for the cost of every legal placement, without a solver. It counts each needed operator, each
// write of an output or pinned store and one read of each used input at the least cost, and each relation once per hop
// of its longest chain. A minimum cut adds the values to be written and read between hops. The bound is loose.
double cutBound(const Instance& instance);

}  // namespace hopscope::optimiser
