#include "graphview/scene_maker.h"

#include <QCoreApplication>
#include <QPointer>
#include <QThreadPool>

namespace hopscope::graphview {

namespace {

constexpr std::size_t maxBuiltHere = 2500;  // nodes; more are left to another thread

}  // namespace

SceneMaker::SceneMaker(QObject* parent) : QObject(parent) {}

void SceneMaker::setModel(models::ModelPtr model)
{
    m_client.cancel();
    ++m_generation;
    m_building = false;
    m_arranger.reset();
    m_scene.reset();
    m_arranged.clear();
    m_plan.reset();
    m_model = std::move(model);
    m_fold = m_model ? prepareFold(*m_model) : FoldModel{};
    if (!m_model) {
        emit sceneChanged();
        return;
    }
    setFold(initialFold(m_fold));
}

void SceneMaker::setPlan(models::PlanPtr plan)
{
    if (plan == m_plan) return;
    m_plan = std::move(plan);
    // While a layout is under way the scene to come takes the plan along.
    if (m_scene && !m_arranger) rebuild();
}

void SceneMaker::setFold(FoldState state)
{
    m_state = std::move(state);
    if (m_model) startLayout();
}

void SceneMaker::startLayout()
{
    m_client.cancel();
    ++m_generation;
    m_building = false;
    m_graph = visibleGraph(m_fold, m_state);
    m_sizes = nodeSizes(m_graph);
    m_arranger.emplace(m_graph, m_sizes);
    nextRound();
}

void SceneMaker::nextRound()
{
    std::vector<SmallGraph> graphs = m_arranger->nextRound();
    if (graphs.empty()) return finishLayout();
    m_client.solve(std::move(graphs), [this](std::vector<SmallLayout> layouts) {
        m_arranger->answer(layouts);
        nextRound();
    });
}

void SceneMaker::finishLayout()
{
    m_arranged = m_arranger->rects();
    m_arranger.reset();
    rebuild();
}

void SceneMaker::rebuild()
{
    ++m_generation;
    if (m_graph.nodes.size() > maxBuiltHere) return buildAside();
    take(buildScene({m_graph, m_sizes, m_arranged, m_model.get(), m_plan.get()}));
}

// Large scenes take longer than the event loop may stand still. The job owns all that it needs.
void SceneMaker::buildAside()
{
    m_building = true;
    const QPointer<SceneMaker> self(this);
    const auto done = [self, generation = m_generation](const ScenePtr& scene) {
        if (self && self->m_generation == generation) self->take(scene);
    };
    QThreadPool::globalInstance()->start(
        [graph = m_graph, sizes = m_sizes, arranged = m_arranged, model = m_model, plan = m_plan, done] {
            const ScenePtr scene = buildScene({graph, sizes, arranged, model.get(), plan.get()});
            QMetaObject::invokeMethod(
                QCoreApplication::instance(), [scene, done] { done(scene); }, Qt::QueuedConnection);
        });
}

void SceneMaker::take(ScenePtr scene)
{
    m_building = false;
    m_scene = std::move(scene);
    emit sceneChanged();
}

}  // namespace hopscope::graphview
