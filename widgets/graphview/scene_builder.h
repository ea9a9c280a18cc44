#pragma once

// The steps of buildScene().

#include <memory>

#include "graphview/scene.h"

namespace hopscope::graphview {

class SceneBuilder {
public:
    explicit SceneBuilder(SceneInput input);
    ScenePtr build();

private:
    void placeNodes();
    void placeFrames();
    void routeEdges();
    void findCheckpoints();
    [[nodiscard]] const protocol::PlanCheckpoint* checkpointOn(const VisibleEdge& edge) const;
    void indexEdges();
    void placeStubs();
    void placeStores();
    [[nodiscard]] SceneStore storeFor(const protocol::PlanCheckpoint& checkpoint) const;
    [[nodiscard]] bool isInner(const SceneStore& store) const;
    [[nodiscard]] bool storeFits(const QRectF& rect, std::size_t placed) const;
    void spreadStores();
    void growBounds();

    SceneInput m_input;
    std::vector<std::vector<const protocol::PlanCheckpoint*>> m_checkpoints;
    std::shared_ptr<Scene> m_scene = std::make_shared<Scene>();
};

}  // namespace hopscope::graphview
