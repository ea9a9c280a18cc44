#pragma once

// Computes how the batches of a plan move over a graph, frame by frame. The functions are pure; they depend on the
// plan, a part of the graph and the number of nodes in a batch.

#include <cstdint>
#include <optional>
#include <vector>

#include "protocol/plan.h"
#include "schema/graph_part.h"

namespace hopscope::study {

struct DrawnNode {
    int table = 0;  // index into GraphPart::tables
    std::int64_t id = 0;
    bool whole = false;  // a batch computes it here, from everything that it gathers
};

struct DrawnEdge {
    int relation = 0;       // index into GraphPart::relations
    int from = -1, to = 0;  // indices into Animation::nodes; from -1: no node
};

// An input or a stored value, restricted to the rows that are drawn.
struct DrawnStore {
    protocol::ValueId value;
    std::optional<protocol::StageId> stage{};  // the stage that writes it; none: an input
    bool output = false;
    bool onEdges = false;
    std::int64_t rows = 0;     // of the whole table
    std::vector<int> cells{};  // nodes or edges, ascending
};

enum class Moment {
    Start,    // nothing has been computed
    Stage,    // a stage begins
    Block,    // the nodes of a batch, and the nodes that it gathers from
    Gather,   // their rows are read
    Compute,  // operators on the same rows
    Write,    // rows of the batch are stored
    Done,     // all batches of a stage have been computed, also of nodes that are not drawn
};

struct Frame {
    Moment moment = Moment::Start;
    int stage = 0;                      // index into PlanRecord::stages
    int loop = 0;                       // index into the stage's loops
    int batch = 0, batches = 0;         // counted from 0; within the loop
    std::vector<int> destinations{};    // nodes of the batch, ascending
    std::vector<int> frontier{};        // the nodes that it gathers from: its own first, then ascending
    std::vector<int> edges{};           // rows of relations that belong to the batch
    std::vector<protocol::OpId> ops{};  // Compute: its operators; Done: operators that the stage completes
    std::string rows{};                 // Compute: on which rows, as in plan.json
    std::vector<int> stores{};          // indices into Animation::stores: those read or written
    // For each store, the cells that hold the final numbers after this frame.
    std::vector<std::vector<char>> exact{};
};

struct Animation {
    std::vector<DrawnNode> nodes;
    std::vector<DrawnEdge> edges;
    std::vector<DrawnStore> stores;  // inputs first, then in the order in which stages write them
    std::vector<Frame> frames;
    std::int64_t batch = 1;
};

// Computes the animation. Batches take the nodes of each type that are drawn whole, in ascending order, `batch` at a
// time (at least 1). They are the batches of a run if the part is the complete graph and nodes are not reordered.
Animation animate(const protocol::ModelRecord& model, const protocol::PlanRecord& plan, const schema::GraphPart& part,
                  std::int64_t batch);

// Returns a batch size that gives each loop a few batches.
std::int64_t usualBatch(const schema::GraphPart& part);

// Returns the number of cells of the store that are exact in the frame.
std::int64_t exactCells(const Frame& frame, std::size_t store);

// Returns, for each node, the last stage whose stores contain its row in a frame; 0 for the input.
std::vector<int> stagesReached(const Animation& animation, const protocol::PlanRecord& plan, const Frame& frame);

}  // namespace hopscope::study
