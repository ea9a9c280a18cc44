#pragma once

// Computes the visible part of a model: modules folded into one box, operators that stand alone, and the edges between
// them. The functions are pure; equal inputs give equal graphs.

#include <QSet>
#include <QString>
#include <limits>
#include <memory>
#include <memory_resource>
#include <vector>

#include "graphview/fold/module_runs.h"
#include "protocol/model.h"

namespace hopscope::graphview {

using protocol::OpId;
using protocol::ValueId;

struct FoldState {
    QSet<QString> expanded;      // module paths, and "structure:" + path for parts of the prologue
    bool everyOperator = false;  // also reshapes, biases and size queries
    bool operator==(const FoldState&) const = default;
};

enum class Shape { Input, Structure, Module, Rowwise, Gather, Aggregate, Reduce, Output };

// A graph has tens of thousands of these short lists. They are allocated from the memory of the graph, which is freed
// as a whole.
using OpList = std::pmr::vector<OpId>;
using ValueList = std::pmr::vector<ValueId>;

struct VisibleNode {
    QString key;  // the same in every fold: "op12", "module:convs.0", "structure:convs.0"
    Shape shape = Shape::Rowwise;
    QString label, detail, tip;
    OpId op;          // the operator that it represents; for a box, the first one in it
    OpList ops;       // all operators in it, ascending
    int module = -1;  // for module boxes: index into the tree
    int merged = 0;   // other boxes merged into this one, because the nodes between them would form a cycle
    QString expands;  // the entry of FoldState::expanded that opens it; empty if there is nothing to open
    int frame = -1;   // innermost frame around it
    int depth = 0, minDepth = 0;
    bool prologue = false;  // structure only: not part of any stage
    int repeat = 1;
    bool operator==(const VisibleNode&) const = default;
};

struct VisibleEdge {
    int from = 0, to = 0;
    ValueList values;  // ascending
    bool operator==(const VisibleEdge&) const = default;
};

// One use of a prologue value, or of an input with many uses, drawn as a labelled stub instead of an edge.
struct Stub {
    int node = 0;
    int source = 0;  // node
    QString label;
    ValueList values;
    bool operator==(const Stub&) const = default;
};

// The outline of an expanded module. Frames nest, and every frame is convex: no path leaves it and enters it again.
struct Frame {
    int module = 0;
    int parent = -1;
    QString path, title;
    bool operator==(const Frame&) const = default;
};

struct VisibleGraph {
    VisibleGraph() = default;
    VisibleGraph(VisibleGraph&&) = default;
    VisibleGraph& operator=(VisibleGraph&&) = delete;  // would free the memory before the lists in it

    std::shared_ptr<std::pmr::memory_resource> memory = std::make_shared<std::pmr::monotonic_buffer_resource>();
    std::vector<VisibleNode> nodes;
    std::vector<VisibleEdge> edges;  // acyclic, sorted by (from, to)
    std::vector<Stub> stubs;
    std::vector<Frame> frames;                              // parents before children
    base::IdVector<OpId, int> nodeOf;                       // by operator: its node, or -1 if no node shows it
    [[nodiscard]] int nodeByKey(const QString& key) const;  // -1: none; linear
};

using GraphPtr = std::shared_ptr<const VisibleGraph>;

// The facts about an operator that folding needs, kept compact because fetching whole records would take most of the
// time.
struct OpFacts {
    Shape shape = Shape::Rowwise;
    bool prologue = false, structureInput = false, scalar = false;
    int depth = 0;
    int prologueModule = 0;  // for prologue operators: the module whose box holds them
};

// A value that an operator takes as input, and the operator that produces it.
struct Flow {
    ValueId value;
    OpId producer;
};

// The facts about a model that folding needs, computed once per model.
struct FoldModel {
    const protocol::ModelRecord* model = nullptr;
    models::ModuleTree tree;
    base::IdVector<OpId, OpId> leaders;  // see leadersOf()
    base::IdVector<OpId, OpFacts> facts;
    std::vector<Flow> flows;           // grouped by consumer, in the order of its inputs
    std::vector<std::size_t> flowsOf;  // by operator n: its flows are flows[flowsOf[n]..flowsOf[n + 1])
    std::vector<int> leaderCount;      // by module, submodules included: the number of nodes that it opens into
    // Returns false for the root, for modules that are a single node anyway, and for lists that hold only one run of
    // layers.
    [[nodiscard]] bool foldable(int module) const
    {
        const models::Module& record = tree.modules[module];
        return module > 0 && leaderCount[module] > 1 && !(record.ops.empty() && record.children.size() == 1);
    }
};

// Prepares a model for folding. `tree` is its module tree without runs of layers; a null tree is computed here.
FoldModel prepareFold(const protocol::ModelRecord& model, const models::ModuleTree* tree = nullptr);

// Returns the initial fold: modules are opened level by level, identical ones together, until about `budget` nodes are
// visible. Fewer are opened if that keeps the longest path, which has to fit on the screen, within `longest` nodes.
FoldState initialFold(const FoldModel& fold, int budget = 60, int longest = std::numeric_limits<int>::max());
FoldState fullyExpanded(const FoldModel& fold);
// Returns the state in which all modules are open, while operators that are computed once per graph stay in their
// boxes.
FoldState modulesExpanded(const FoldModel& fold);

// Returns the graph that is visible in a state, in time near-linear in operators and values. `before` is the graph of
// the same model in a different state, or null; equal labels are copied from it, which only saves time.
VisibleGraph visibleGraph(const FoldModel& fold, const FoldState& state, const VisibleGraph* before = nullptr);

// Returns the module that must be closed to hide the node in the box around it; empty if the node is at the top level.
QString enclosing(const FoldModel& fold, const FoldState& state, const VisibleNode& node);

}  // namespace hopscope::graphview
