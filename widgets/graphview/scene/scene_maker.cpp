#include "graphview/scene/scene_maker.h"

#include "models/runner.h"

namespace hopscope::graphview {

SceneMaker::SceneMaker(QObject* parent) : QObject(parent) { m_worker.setMaxThreadCount(1); }

SceneMaker::~SceneMaker() { m_stop.request_stop(); }

template <class Work, class Then>
void SceneMaker::aside(Work work, Then then)
{
    models::runAside(m_worker, this, std::move(work),
                     [this, generation = m_generation, then = std::move(then)](auto result) {
                         if (generation == m_generation) then(std::move(result));
                     });
}

// All jobs in progress are obsolete.
std::stop_token SceneMaker::restart()
{
    m_client.cancel();
    m_stop.request_stop();
    m_stop = {};
    ++m_generation;
    return m_stop.get_token();
}

void SceneMaker::setModel(models::ModelPtr model, models::PartsPtr parts)
{
    restart();
    m_model = std::move(model);
    m_view.reset();
    m_memory = models::releasedAside(std::make_shared<SceneMemory>());
    m_plan.reset();
    m_draft.reset();
    m_state = {};
    m_chosen = false;
    m_busy = m_model != nullptr;
    m_scene.reset();
    emit sceneChanged();
    if (!m_model) return;
    const auto prepare = [model = m_model, parts = std::move(parts), longest = m_longest] {
        FoldModel fold = prepareFold(*model, &parts->modules);
        FoldState initial = initialFold(fold, 60, longest);
        return models::releasedAside(std::shared_ptr<const ModelView>(
            new ModelView{.model = model, .fold = std::move(fold), .initial = std::move(initial)}));
    };
    aside(prepare, [this](std::shared_ptr<const ModelView> view) { takeView(std::move(view)); });
}

void SceneMaker::takeView(std::shared_ptr<const ModelView> view)
{
    m_view = std::move(view);
    if (!m_chosen) m_state = m_view->initial;
    startLayout();
}

void SceneMaker::setPlan(models::PlanPtr plan)
{
    if (plan == m_plan) return;
    const bool samePicture = plan && m_plan && protocol::sameCuts(*plan, *m_plan);
    m_plan = std::move(plan);
    if (samePicture) return;
    // While a layout is in progress, the coming scene will use the plan.
    if (m_draft) build();
}

void SceneMaker::setFold(FoldState state)
{
    m_state = std::move(state);
    m_chosen = true;
    if (m_view) startLayout();
}

void SceneMaker::buildPreview(models::PlanPtr plan, std::function<void(ScenePtr)> then)
{
    if (!m_scene || m_busy) return;
    const auto work = [scene = m_scene, model = m_model, plan = std::move(plan)] {
        return models::releasedAside(previewScene(*scene, *model, *plan));
    };
    aside(work, std::move(then));
}

SceneMaker::DraftPtr SceneMaker::startDraft(const FoldModel& fold, const FoldState& state,
                                            std::shared_ptr<SceneMemory> memory, const Scene* before)
{
    auto draft = std::make_shared<Draft>();
    draft->memory = std::move(memory);
    draft->graph =
        std::make_shared<const VisibleGraph>(visibleGraph(fold, state, before ? before->graph.get() : nullptr));
    draft->sizes = nodeSizes(*draft->graph, draft->memory->texts);
    draft->arranger.emplace(*draft->graph, draft->sizes, draft->memory->frames);
    nextRound(*draft);
    return draft;
}

void SceneMaker::nextRound(Draft& draft)
{
    draft.round = draft.arranger->nextRound();
    if (!draft.round.empty()) return;
    draft.arranged = draft.arranger->rects();
    draft.arranger.reset();
}

void SceneMaker::startLayout()
{
    restart();
    m_busy = true;
    m_draft.reset();
    const auto start = [view = m_view, state = m_state, memory = m_memory, before = m_scene] {
        return startDraft(view->fold, state, memory, before.get());
    };
    aside(start, [this](DraftPtr draft) { takeRound(std::move(draft)); });
}

void SceneMaker::takeRound(DraftPtr draft)
{
    if (draft->round.empty()) {
        m_draft = std::move(draft);
        return build();
    }
    std::vector<SmallGraph> round = std::move(draft->round);
    m_client.solve(std::move(round), [this, draft = std::move(draft)](std::vector<SmallLayout> layouts) {
        const auto proceed = [draft, layouts = std::move(layouts)] {
            draft->arranger->answer(layouts);
            nextRound(*draft);
            return draft;
        };
        aside(proceed, [this](DraftPtr next) { takeRound(std::move(next)); });
    });
}

void SceneMaker::build()
{
    const std::stop_token stop = restart();
    m_busy = true;
    const auto work = [draft = m_draft, model = m_model, plan = m_plan, stop] {
        return models::releasedAside(buildScene({.graph = draft->graph,
                                                 .sizes = draft->sizes,
                                                 .arranged = draft->arranged,
                                                 .model = model.get(),
                                                 .plan = plan.get(),
                                                 .memory = draft->memory.get(),
                                                 .stop = stop}));
    };
    aside(work, [this](ScenePtr scene) { take(std::move(scene)); });
}

void SceneMaker::take(ScenePtr scene)
{
    m_busy = false;
    m_scene = std::move(scene);
    emit sceneChanged();
}

}  // namespace hopscope::graphview
