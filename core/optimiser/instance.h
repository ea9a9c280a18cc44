#pragma once

// The abstract placement problem as plain data: values can be stored between the stages of a layer-wise evaluation,
// read back, recomputed and delayed, each at a cost. Nothing here depends on models, tensors or files; the caller
// chooses the unit of costs (seconds, bytes).
//
// Stages run one after the other; each visits all destination batches. Within a stage, a value can be available on
//   D    the destination rows of the batches (over the stage: all its rows),
//   F@t  the unique frontier rows of the batches whose destinations have type t. F@(own type) includes D.
// A value is an input (on the host from the start), an op (no message passing; may be computed any number of times) or
// a hop (message passing; computed exactly once, on D, in one of the stages 1..S). An operand is either gathered by
// source (src: needed on F@type of the hop) or destination-local (loc: needed on the rows that are computed).
//
// Row reductions are hops without src and without relation. If their consumers may only use the finished result, the
// edges are `requiredReads`.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/choices.h"
#include "base/id.h"
#include "base/result.h"

namespace hopscope::optimiser {

struct NodeTag;
struct TypeTag;
struct RelationTag;
using NodeId = base::Id<NodeTag>;          // index into Instance::nodes
using TypeId = base::Id<TypeTag>;          // index into Instance::types
using RelationId = base::Id<RelationTag>;  // index into Instance::relations

enum class NodeKind : std::uint8_t { Input, Op, Hop };
constexpr auto namesOf(NodeKind)
{
    return std::to_array<base::Named<NodeKind>>(
        {{NodeKind::Input, "input"}, {NodeKind::Op, "op"}, {NodeKind::Hop, "hop"}});
}
enum class RowKind : std::uint8_t { Node, Edge };  // values with edge rows exist on D only

struct Node {
    std::string name;
    NodeKind kind = NodeKind::Op;
    RowKind rows = RowKind::Node;
    TypeId type{0};           // the table of its rows or, for a value on edges, of their destinations
    std::vector<NodeId> src;  // hops only
    std::vector<NodeId> loc;
    double write = 0;              // once, in the stage that stores it
    double readD = 0;              // per stage that reads it on D
    std::vector<double> readF;     // by destination type of the reading batches; per stage and type
    double computeD = 0;           // per stage that computes it on D
    std::vector<double> computeF;  // by destination type; per stage and type
    double size = 0;               // on the host while stored, in the unit of Instance::hostBudget
    RelationId relation;           // of a hop: the structure that it loads; none: it loads nothing
    bool noCheckpoint = false;     // is never stored (no effect on outputs)
    bool noRecompute = false;      // is computed at most once: one stage, one class of rows
    bool operator==(const Node&) const = default;
};

// Return the costs on frontier rows; empty vectors mean 0.
double readCostF(const Node& node, TypeId type);
double computeCostF(const Node& node, TypeId type);

struct Relation {
    std::string name;
    double structureCost = 0;  // per stage with a hop of this relation
    bool operator==(const Relation&) const = default;
};

using base::PinKind;  // on the nodes of an instance; a HopStage counts stages as the instance does

struct Pin {
    PinKind kind = PinKind::Checkpoint;
    NodeId node;
    NodeId consumer;  // Cut only
    int stage = 0;    // HopStage only
    bool operator==(const Pin&) const = default;
};

struct Edge {
    NodeId from, to;
    bool operator==(const Edge&) const = default;
};

struct Instance {
    std::string name;
    std::vector<std::string> types;  // at least one
    std::vector<Relation> relations;
    std::vector<Node> nodes;  // in any order without cycles
    std::vector<NodeId> outputs;
    int stages = 1;           // S: the last stage
    bool allowStage0 = true;  // a stage without hops and frontiers before stage 1
    double stageCost = 0;     // per stage in which anything is computed
    std::optional<double> hostBudget;
    std::vector<Pin> pins;
    std::vector<Edge> requiredReads;  // as Cut pins, but part of the problem: never part of an infeasible subset
    bool operator==(const Instance&) const = default;

    [[nodiscard]] const Node& node(NodeId id) const { return nodes[id.at()]; }
};

// Checks that everything is in range, finite and not negative, that names differ, and that edges have no cycle. Inputs
// must have no operands, and all other nodes some; only hops have src operands, all with node rows, and relations.
// Frontier costs are checked where frontier rows can be needed; those of a node's own type must not be lower than on D.
// Pins must apply to the nodes that they name. Fails with Input, naming the faulty part. Functions of the module that
// take an instance require one that passes this check, except for checkPins().
base::Status check(const Instance& instance);

// Returns the earliest stage of every node; pins are ignored. A gather, or a required read of a value that is no input,
// needs a later stage than its operand. A hop that uses another hop only locally can run in the same stage.
std::vector<int> depths(const Instance& instance);

// Returns the number of stages that an instance needs without pins and budget: the maximum of depths(), but at least 1.
int neededStages(const Instance& instance);

// Returns the text of a pin: "read conv0 from a store for relu", "run the gathers for conv1 in stage 2".
std::string describePin(const Instance& instance, const Pin& pin);

}  // namespace hopscope::optimiser
