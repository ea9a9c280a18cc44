#pragma once

// Private to placement: translates the user's pins to pins of an instance.

#include <map>
#include <set>
#include <vector>

#include "placement/dep_table.h"
#include "placement/model_instance.h"

namespace hopscope::placement {

// Adds the pins to `model`, whose nodes are complete, and records in `pinOf` the pin that each of them stands for. Pins
// apply to:
//   store, cut, no recomputation   the rows on which the value is complete, since it can be stored only there
//   never store                    all rows
//   hop stage                      every gather that makes the value, or that it aggregates through values on edges
class InstancePins {
public:
    using NodesOfValues = std::map<ir::ValueId, std::vector<optimiser::NodeId>>;
    static NodesOfValues nodesOf(const ModelInstance& model);

    // `nodes`: those of the model. All arguments must outlive this object.
    InstancePins(const analysis::Analysis& analysis, const DepTable& table, const NodesOfValues& nodes,
                 ModelInstance& model);

    // Fails with Unsupported if the value cannot be pinned, or if the instance cannot express the pin: the value is not
    // complete on the rows on which it is needed, or on no rows at all.
    base::Status add(const plan::Pin& pin);

private:
    using NodeId = optimiser::NodeId;

    base::Status store(const plan::Pin& pin);
    base::Status cut(const plan::Pin& pin);
    base::Status hopStage(const plan::Pin& pin);
    base::Status once(const plan::Pin& pin);
    void push(base::PinKind kind, NodeId node, NodeId consumer = {}, int stage = 0);
    base::Result<NodeId> storable(ir::ValueId value);
    [[nodiscard]] std::vector<NodeId> nodesOf(ir::ValueId value) const;
    [[nodiscard]] std::vector<NodeId> nodesOfOp(ir::ValueId value) const;
    [[nodiscard]] std::vector<NodeId> gathersBehind(std::vector<NodeId> open) const;
    [[nodiscard]] base::Error notExpressed(ir::ValueId value) const;

    const analysis::Analysis& m_a;
    const DepTable& m_table;
    const NodesOfValues& m_nodes;
    ModelInstance& m_model;
};

// Returns the values whose gathers have to be a single node of the instance, because a pin may store them.
std::set<ir::ValueId> sharedByPins(const std::vector<plan::Pin>& pins);

}  // namespace hopscope::placement
