#pragma once

// Keeps a scene up to date: a new model or fold needs a new layout, a new plan only new bands. All work that grows with
// the model is done on a worker thread, as a chain of jobs; jobs that are no longer wanted stop early, and their
// results are dropped.

#include <QObject>
#include <QThreadPool>
#include <functional>

#include "graphview/layout/layout_client.h"
#include "graphview/scene/scene.h"
#include "graphview/scene/scene_memory.h"
#include "models/document.h"

namespace hopscope::graphview {

class SceneMaker : public QObject {
    Q_OBJECT
public:
    explicit SceneMaker(QObject* parent = nullptr);
    ~SceneMaker() override;

    void setModel(models::ModelPtr model,
                  models::PartsPtr parts);             // null: nothing is open; starts with the initial fold
    void setLongest(int nodes) { m_longest = nodes; }  // limits the longest path of the next initial fold
    void setPlan(models::PlanPtr plan);
    void setFold(FoldState state);
    // Builds the current scene with a different plan. `then` is not called if another scene is ready first.
    void buildPreview(models::PlanPtr plan, std::function<void(ScenePtr)> then);

    [[nodiscard]] LayoutClient& client() { return m_client; }
    [[nodiscard]] bool ready() const { return m_view != nullptr; }  // fold() and initial() are valid
    [[nodiscard]] const FoldModel& fold() const { return m_view->fold; }
    [[nodiscard]] const FoldState& initial() const { return m_view->initial; }
    [[nodiscard]] const FoldState& state() const { return m_state; }
    [[nodiscard]] const models::ModelPtr& model() const { return m_model; }
    [[nodiscard]] const models::PlanPtr& plan() const { return m_plan; }
    [[nodiscard]] const ScenePtr& scene() const { return m_scene; }  // null: nothing is open, or not ready yet
    [[nodiscard]] bool busy() const { return m_busy; }

signals:
    void sceneChanged();  // including a change to null

private:
    // The data for folding a model, which does not depend on the open modules.
    struct ModelView {
        models::ModelPtr model;  // `fold` points into it
        FoldModel fold;
        FoldState initial;
    };
    // A layout in progress, held by one job at a time and, between jobs, by this object alone. All scenes of the model
    // share its memory, which only jobs access, one after the other.
    struct Draft {
        std::shared_ptr<SceneMemory> memory;
        GraphPtr graph;
        std::vector<QSizeF> sizes;
        std::optional<Arranger> arranger;
        std::vector<QRectF> arranged;
        std::vector<SmallGraph> round;  // to be laid out next; empty: everything is arranged
    };
    using DraftPtr = std::shared_ptr<Draft>;
    static DraftPtr startDraft(const FoldModel& fold, const FoldState& state, std::shared_ptr<SceneMemory> memory,
                               const Scene* before);
    static void nextRound(Draft& draft);

    template <class Work, class Then>
    void aside(Work work, Then then);  // calls `then` only if nothing newer has been requested meanwhile
    std::stop_token restart();
    void takeView(std::shared_ptr<const ModelView> view);
    void startLayout();
    void takeRound(DraftPtr draft);
    void build();
    void take(ScenePtr scene);

    models::ModelPtr m_model;
    models::PlanPtr m_plan;
    std::shared_ptr<const ModelView> m_view;
    std::shared_ptr<SceneMemory> m_memory;
    FoldState m_state;
    int m_longest = std::numeric_limits<int>::max();
    bool m_chosen = false;  // the fold was requested; otherwise it is the initial one
    LayoutClient m_client;
    std::shared_ptr<const Draft> m_draft;  // arranged
    ScenePtr m_scene;
    bool m_busy = false;
    std::stop_source m_stop;
    quint64 m_generation = 0;
    QThreadPool m_worker;  // one thread
};

}  // namespace hopscope::graphview
