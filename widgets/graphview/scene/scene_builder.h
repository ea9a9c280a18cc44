#pragma once

// The steps of buildScene().

#include <memory>
#include <optional>
#include <unordered_map>

#include "graphview/scene/scene.h"
#include "graphview/scene/scene_memory.h"

namespace hopscope::graphview {

class SceneBuilder {
public:
    explicit SceneBuilder(SceneInput input);
    ScenePtr build();
    ScenePtr buildOver(const Scene& base);  // without moving anything

private:
    void placeNodes();
    void placeFrames();
    [[nodiscard]] std::vector<QRectF> obstacles() const;
    [[nodiscard]] std::vector<int> shortEdgesFirst() const;
    void routeEdges();
    void addEdge(const VisibleEdge& edge, std::span<const QPointF> path);
    void findCheckpoints();
    [[nodiscard]] const protocol::PlanCheckpoint* checkpointOn(const VisibleEdge& edge) const;
    [[nodiscard]] std::optional<std::int64_t> readAlong(const VisibleEdge& edge,
                                                        const protocol::PlanCheckpoint& checkpoint) const;
    void markCut(SceneEdge& drawn, const VisibleEdge& edge) const;
    void markPins();
    void markPin(const plan::Pin& pin);
    void indexEdges();
    void gatherStubs();
    void placeStub(SceneStub& stub);
    void placeStubs();
    void placeStores();
    [[nodiscard]] std::vector<std::vector<const protocol::PlanCheckpoint*>> storeGroups() const;
    void joinStore(SceneStore& store, const std::vector<const protocol::PlanCheckpoint*>& group) const;
    [[nodiscard]] SceneStore storeFor(const protocol::PlanCheckpoint& checkpoint) const;
    [[nodiscard]] bool isInner(const SceneStore& store) const;
    [[nodiscard]] bool storeFits(const QRectF& rect) const;
    void occupy(const QRectF& rect);  // no store is placed there
    void nameNeighbours();
    void spreadStores();
    void growBounds();

    SceneInput m_input;
    SceneMemory m_ownMemory;
    SceneMemory& m_memory;
    TextMeasure m_measure;
    std::unordered_map<ValueId, std::size_t> m_cutOf;          // by stored value: the first edge that it cuts
    std::unordered_map<int, std::vector<QRectF>> m_storeRows;  // occupied rectangles, by height
    std::vector<std::vector<const protocol::PlanCheckpoint*>> m_checkpoints;
    const Scene* m_base = nullptr;  // for a preview: the scene that it replaces
    std::shared_ptr<Scene> m_scene = std::make_shared<Scene>();
};

}  // namespace hopscope::graphview
