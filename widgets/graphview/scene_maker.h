#pragma once

// Keeps a scene up to date: another model or fold asks for a layout, another plan only for other bands.

#include <QObject>

#include "graphview/layout_client.h"
#include "graphview/navigation.h"
#include "graphview/scene.h"
#include "models/document.h"

namespace hopscope::graphview {

class SceneMaker : public QObject {
    Q_OBJECT
public:
    explicit SceneMaker(QObject* parent = nullptr);

    void setModel(models::ModelPtr model);  // null: nothing is open; begins with the initial fold
    void setPlan(models::PlanPtr plan);
    void setFold(FoldState state);

    [[nodiscard]] LayoutClient& client() { return m_client; }
    [[nodiscard]] const FoldModel& fold() const { return m_fold; }
    [[nodiscard]] const FoldState& state() const { return m_state; }
    [[nodiscard]] const models::ModelPtr& model() const { return m_model; }
    [[nodiscard]] const models::PlanPtr& plan() const { return m_plan; }
    [[nodiscard]] const ScenePtr& scene() const { return m_scene; }  // null: nothing is open, or not ready yet
    [[nodiscard]] bool busy() const { return m_arranger.has_value() || m_building; }

signals:
    void sceneChanged();  // also to null

private:
    void startLayout();
    void nextRound();
    void finishLayout();
    void rebuild();
    void buildAside();
    void take(ScenePtr scene);

    models::ModelPtr m_model;
    models::PlanPtr m_plan;
    FoldModel m_fold;
    FoldState m_state;
    LayoutClient m_client;
    VisibleGraph m_graph;
    std::vector<QSizeF> m_sizes;
    std::optional<Arranger> m_arranger;
    std::vector<QRectF> m_arranged;
    ScenePtr m_scene;
    bool m_building = false;   // a large scene is being made by another thread
    quint64 m_generation = 0;  // of what was asked for last: older scenes are dropped
};

}  // namespace hopscope::graphview
