#pragma once

// The steps of visibleGraph(): owners, nodes, edges and stubs, loops merged, frames.

#include <unordered_map>
#include <vector>

#include "graphview/fold/fold.h"

namespace hopscope::graphview {

QString structureKey(const QString& module);  // "structure:convs.0"
QString wholePrologueKey();                   // opening it shows the prologue module by module
QString enclosingStructure(const FoldModel& fold, const FoldState& state, const VisibleNode& node);

class FoldBuilder {
public:
    FoldBuilder(const FoldModel& fold, const FoldState& state);
    VisibleGraph build();

private:
    using Edges = std::vector<std::pair<int, int>>;

    void findBoxes();
    void placeOps();
    int ownerOf(OpId op);
    int structureOwner(OpId op);
    int nodeAt(const QString& key, OpId op, Shape shape);
    void nameNodes();
    void nameNode(VisibleNode& node);
    void nameBox(VisibleNode& node);
    void nameModule(VisibleNode& node, const models::Module& module);
    void nameOp(VisibleNode& node);
    void connect();
    void connectOp(OpId op);
    void addEdge(int from, int to, ValueId value);
    void addStub(int node, int source, ValueId value);
    void stubSharedInputs();
    Edges edgePairs() const;
    void mergeLoops();
    void mergeInto(const std::vector<int>& components, const std::vector<int>& firstOf);
    void nameStubs();
    void frameNodes();
    int frameOf(int module);

    const FoldModel& m_fold;
    const FoldState& m_state;
    const protocol::ModelRecord& m_model;
    VisibleGraph m_graph;
    bool m_wholePrologue = false;
    std::vector<int> m_boxOf;  // by module: outermost closed module around it or itself, or -1
    std::unordered_map<std::string, int> m_byKey;
    std::unordered_map<long long, std::size_t> m_edgeAt, m_stubAt;
    std::unordered_map<int, int> m_frameAt;
};

// Takes frames away that a path would leave and enter again, until none is left (frames_convex.cpp).
void dissolveFrames(VisibleGraph& graph);

}  // namespace hopscope::graphview
