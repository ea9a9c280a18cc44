#pragma once

// The visible part of a model: modules folded into one box, operators that stand alone, and the edges between them.
// Pure functions; equal inputs give equal graphs.

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

// There are tens of thousands of these short lists: they live in the memory of their graph, which is freed as a whole.
using OpList = std::pmr::vector<OpId>;
using ValueList = std::pmr::vector<ValueId>;

struct VisibleNode {
    QString key;  // the same node in another fold has the same key: "op12", "module:convs.0", "structure:convs.0"
    Shape shape = Shape::Rowwise;
    QString label, detail, tip;
    OpId op;          // the operator that it stands for; of boxes the first one
    OpList ops;       // all operators in it, ascending
    int module = -1;  // of module boxes: index into the tree
    int merged = 0;   // other boxes merged into this one, because the nodes between them would form a cycle
    QString expands;  // the entry of FoldState::expanded that opens it; empty: there is nothing to open
    int frame = -1;   // innermost frame around it
    int depth = 0, minDepth = 0;
    bool prologue = false;  // structure only: no part of any stage
    int repeat = 1;
    bool operator==(const VisibleNode&) const = default;
};

struct VisibleEdge {
    int from = 0, to = 0;
    ValueList values;  // ascending
    bool operator==(const VisibleEdge&) const = default;
};

// Something from the prologue, or an input that is used in many places, at one of its uses.
struct Stub {
    int node = 0;
    int source = 0;  // node
    QString label;
    ValueList values;
    bool operator==(const Stub&) const = default;
};

// The outline of an expanded module. Frames nest; every frame is convex: no path leaves and enters it again.
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
    base::IdVector<OpId, int> nodeOf;                       // by operator: its node, or -1 where nothing shows it
    [[nodiscard]] int nodeByKey(const QString& key) const;  // -1: none; linear
};

using GraphPtr = std::shared_ptr<const VisibleGraph>;

// The data of an operator that folding needs, kept compact: fetching whole records would take most of the time.
struct OpFacts {
    Shape shape = Shape::Rowwise;
    bool prologue = false, structureInput = false, scalar = false;
    int depth = 0;
    int prologueModule = 0;  // of the prologue: the module by which it is folded
};

// A value that an operator takes from another one.
struct Flow {
    ValueId value;
    OpId producer;
};

// The data that folding a model needs, computed once per model.
struct FoldModel {
    const protocol::ModelRecord* model = nullptr;
    models::ModuleTree tree;
    base::IdVector<OpId, OpId> leaders;  // see leadersOf()
    base::IdVector<OpId, OpFacts> facts;
    std::vector<Flow> flows;           // by operator that takes them, in the order of its inputs
    std::vector<std::size_t> flowsOf;  // of operator n: those from flowsOf[n] to flowsOf[n + 1]
    std::vector<int> leaderCount;      // by module, with its children: how many nodes it opens into
    // False for the root, for modules that are a single node anyway, and for lists that hold only one run of layers.
    [[nodiscard]] bool foldable(int module) const
    {
        const models::Module& record = tree.modules[module];
        return module > 0 && leaderCount[module] > 1 && !(record.ops.empty() && record.children.size() == 1);
    }
};

// `tree`: of the model, without runs; made here if there is none.
FoldModel prepareFold(const protocol::ModelRecord& model, const models::ModuleTree* tree = nullptr);

// The initial fold: modules are opened level by level, identical ones together, until about `budget` nodes are visible. It
// opens fewer if that keeps the longest path, which has to fit on the screen, within `longest` nodes.
FoldState initialFold(const FoldModel& fold, int budget = 60, int longest = std::numeric_limits<int>::max());
FoldState fullyExpanded(const FoldModel& fold);
// All modules are open; operators that are computed once per graph stay in their boxes.
FoldState modulesExpanded(const FoldModel& fold);

// Near-linear in operators and values. `before`: the model in another state, null: none; equal labels are taken
// from it, which only saves time.
VisibleGraph visibleGraph(const FoldModel& fold, const FoldState& state, const VisibleGraph* before = nullptr);

// The module to close so that the node disappears into the box around it; empty: it is at top level.
QString enclosing(const FoldModel& fold, const FoldState& state, const VisibleNode& node);

}  // namespace hopscope::graphview
