#pragma once

// How the batches of a plan move over a graph, frame by frame. Pure functions of the plan, a part of the graph and the
// number of nodes in a batch.

#include <cstdint>
#include <optional>
#include <vector>

#include "protocol/plan.h"
#include "schema/graph_part.h"

namespace hopscope::study {

struct DrawnNode {
    int table = 0;  // of GraphPart::tables
    std::int64_t id = 0;
    bool whole = false;  // a batch computes it here, with all that it gathers
};

struct DrawnEdge {
    int relation = 0;       // of GraphPart::relations
    int from = -1, to = 0;  // of Animation::nodes; from -1: it begins at no node
};

// An input or a stored value, by the rows that are drawn.
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
    Stage,    // one begins
    Block,    // the nodes of a batch, and those that it gathers from
    Gather,   // their rows are read
    Compute,  // operators on the same rows
    Write,    // rows of the batch are stored
    Done,     // all batches of a stage have been computed, also of nodes that are not drawn
};

struct Frame {
    Moment moment = Moment::Start;
    int stage = 0;                      // of PlanRecord::stages
    int loop = 0;                       // of the stage's loops
    int batch = 0, batches = 0;         // from 0; of the loop
    std::vector<int> destinations{};    // nodes of the batch, ascending
    std::vector<int> frontier{};        // nodes that it gathers from, its own first; then ascending
    std::vector<int> edges{};           // rows of relations that belong to the batch
    std::vector<protocol::OpId> ops{};  // Compute: its operators; Done: those that the stage completes
    std::string rows{};                 // Compute: on which rows, as in plan.json
    std::vector<int> stores{};          // those of Animation::stores that are read or written
    // For each store, which of its cells hold the final numbers after this frame.
    std::vector<std::vector<char>> exact{};
};

struct Animation {
    std::vector<DrawnNode> nodes;
    std::vector<DrawnEdge> edges;
    std::vector<DrawnStore> stores;  // inputs first, then in the order in which stages write them
    std::vector<Frame> frames;
    std::int64_t batch = 1;
};

// Batches take the whole nodes of each type in ascending order, `batch` at a time (at least 1). They are the batches of a run
// if the part is complete and nodes are not reordered.
Animation animate(const protocol::ModelRecord& model, const protocol::PlanRecord& plan, const schema::GraphPart& part,
                  std::int64_t batch);

// A batch size that gives each loop a few batches.
std::int64_t usualBatch(const schema::GraphPart& part);

// The number of cells of the store that are exact in the frame.
std::int64_t exactCells(const Frame& frame, std::size_t store);

// The last stage whose stores contain the row of each node in a frame; 0 for the input.
std::vector<int> stagesReached(const Animation& animation, const protocol::PlanRecord& plan, const Frame& frame);

}  // namespace hopscope::study
