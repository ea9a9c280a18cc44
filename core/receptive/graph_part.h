#pragma once

// Selects nodes and edges from which the batches of a plan gather, as many as can be drawn.

#include <stop_token>

#include "analysis/analysis.h"
#include "base/tensor.h"
#include "loader/loader.h"
#include "plan/plan.h"
#include "schema/graph_part.h"

namespace hopscope::receptive {

struct PartRequest {
    std::optional<std::int64_t> node;  // the central node, of the last gathering loop's type; none: random
    std::uint64_t seed = 1;            // for a random node
};

// Selects all of a graph with up to schema::mostNodesOfAll nodes and schema::mostEdgesOfPart edges. In a larger graph,
// selects the central node with all rows that it gathers. Further nodes follow, breadth first along incoming edges,
// each with all rows that it gathers if these fit. `folder`: for scratch files. Fails with Usage (no such node),
// Unsupported (no batches, or the node, or each of the nodes tried, gathers more than can be drawn), Input, Resources
// or Cancelled.
base::Result<schema::GraphPart> graphPart(const loader::Walk& walk, const analysis::Analysis& analysis,
                                          const plan::Plan& plan, const base::TensorMap& inputs,
                                          const PartRequest& request, const std::string& folder, std::stop_token stop);

}  // namespace hopscope::receptive
