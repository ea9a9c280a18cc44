#pragma once

// The steps of visibleGraph(): finds owners, adds nodes, edges and stubs, merges loops, adds frames, and names
// everything (fold_names.cpp).

#include <unordered_map>
#include <vector>

#include "graphview/fold/fold.h"

namespace hopscope::graphview {

QString structureKey(const QString& module);  // "structure:convs.0"
QString wholePrologueKey();                   // opening it shows the prologue module by module
QString enclosingStructure(const FoldModel& fold, const FoldState& state, const VisibleNode& node);

class FoldBuilder {
public:
    FoldBuilder(const FoldModel& fold, const FoldState& state, const VisibleGraph* before);
    VisibleGraph build();

private:
    using Edges = std::vector<std::pair<int, int>>;

    void findBoxes();
    void findPrologue();
    void placeOps();
    int ownerOf(OpId op);
    int structureOwner(OpId op);
    int operatorNode(OpId op, Shape shape, bool prologue);
    int moduleBox(int module, OpId first);
    int structureBox(int module, OpId first);
    int addNode(OpId op, Shape shape);
    void nameNodes();
    [[nodiscard]] const VisibleNode* sameBefore(const VisibleNode& node) const;
    [[nodiscard]] QString keyOf(const VisibleNode& node) const;
    void nameNode(VisibleNode& node);
    void nameBox(VisibleNode& node);
    void nameModule(VisibleNode& node, const models::Module& module);
    [[nodiscard]] QString namesOf(const VisibleNode& node) const;
    void nameOp(VisibleNode& node);
    void connect();
    void connectOp(OpId op);
    void addEdge(int from, int to, ValueId value);
    void addStub(int node, int source, ValueId value);
    void stubSharedInputs();
    [[nodiscard]] Edges edgePairs() const;
    void mergeLoops();
    [[nodiscard]] std::vector<int> largestOf(const std::vector<int>& components) const;
    void mergeInto(const std::vector<int>& components, const std::vector<int>& firstOf);
    void sortEdges();
    QString stubWord(const Stub& stub, ValueId value);
    void nameStubs();
    void frameNodes();
    int frameOf(int module);

    const FoldModel& m_fold;
    const FoldState& m_state;
    const protocol::ModelRecord& m_model;
    const VisibleGraph* m_before;  // null: none
    VisibleGraph m_graph;
    bool m_wholePrologue = false;
    std::vector<int> m_boxOf;                        // by module: outermost closed module around it or itself, or -1
    std::unordered_map<int, bool> m_structureOpen;   // by module with a prologue
    base::IdVector<OpId, int> m_nodeOfOp;            // nodes of operators that stand alone or lead others; otherwise -1
    std::vector<int> m_nodeOfBox;                    // by module: its box, or -1
    std::unordered_map<int, int> m_nodeOfStructure;  // by module: the box of its prologue
    std::pmr::monotonic_buffer_resource m_memory;    // for temporary data, until the graph is built
    std::pmr::unordered_map<long long, std::size_t> m_edgeAt{&m_memory}, m_stubAt{&m_memory};
    std::vector<int> m_frameAt;                    // by module
    std::unordered_map<ValueId, QString> m_words;  // of stubs
};

// Removes frames that a path leaves and enters again, until none is left (frames_convex.cpp).
void dissolveFrames(VisibleGraph& graph);

}  // namespace hopscope::graphview
