// Pins from the graph: menus, keys, and checkpoints that are dragged, with a preview of what would follow.

#include <QMenu>

#include "graphview/view/cut_preview.h"
#include "graphview/view/graph_controller.h"
#include "models/labels.h"
#include "models/pin_menu.h"

namespace hopscope::graphview {

using models::Target;
using protocol::NodeKind;

namespace {

constexpr std::size_t menuLimit = 24;  // operands and hops of a closed box that a menu offers

template <class T>
void limit(std::vector<T>& list)
{
    if (list.size() > menuLimit) list.resize(menuLimit);
}

}  // namespace

QString GraphController::whyNotStored(int value) const
{
    if (value < 0) return tr("Nothing can be stored here: drop the checkpoint on a node or an edge.");
    const protocol::ValueRecord& record = m_maker.model()->values[value];
    if (record.structureOnly) return tr("Computed once for the whole graph: storing it is not necessary.");
    if (!record.hasRows()) return tr("Values without a row per node or edge cannot be stored between stages.");
    return {};
}

void GraphController::pin(base::PinKind kind, int value)
{
    const QString why = value < 0 ? tr("Select a node or an edge first.") : whyNotStored(value);
    if (!why.isEmpty()) return emit m_panel.contextHelpRequested(why);
    emit m_panel.pinRequested({.kind = kind, .value = protocol::ValueId(value)});
}

void GraphController::unpin(int value)
{
    if (value < 0) return emit m_panel.contextHelpRequested(tr("Select a node or an edge first."));
    emit m_panel.unpinRequested(protocol::ValueId(value));
}

// Operands from outside of a node are cut off at its edge; in a closed module a gather and its aggregation are one hop.
models::PinPlace GraphController::placeOfNode(int node) const
{
    const protocol::ModelRecord& model = *m_maker.model();
    const Scene& scene = *m_view->scene();
    models::PinPlace place{.value = protocol::ValueId(valueOfNode(node)), .hops = {}, .reads = {}};
    const std::vector<int>& ops = scene.graph.nodes[node].ops;
    const bool aggregates = std::ranges::any_of(ops, [&](int op) { return model.ops[op].kind == NodeKind::Aggregate; });
    for (const int op : ops) {
        const protocol::OpRecord& record = model.ops[op];
        if (record.structureOnly) continue;
        const bool hop = record.kind == NodeKind::Aggregate || (record.kind == NodeKind::Gather && !aggregates);
        if (hop && !record.outputs.empty()) place.hops.push_back(record.outputs.front());
        for (const auto& read : models::readsOf(model, protocol::OpId(op)))
            if (scene.graph.nodeOf[model.values[read.operand].producer.at()] != node) place.reads.push_back(read);
    }
    limit(place.hops);
    limit(place.reads);
    return place;
}

models::PinPlace GraphController::placeOf(const Hit& hit) const
{
    if (hit.kind == Hit::Kind::Node || hit.kind == Hit::Kind::Expander) return placeOfNode(hit.index);
    models::PinPlace place{.value = protocol::ValueId(valueOf(hit)), .hops = {}, .reads = {}};
    if (hit.kind != Hit::Kind::Edge) return place;
    const Scene& scene = *m_view->scene();
    const SceneEdge& edge = scene.edges[hit.index];
    for (const int op : scene.graph.nodes[edge.to].ops)
        for (const auto& read : models::readsOf(*m_maker.model(), protocol::OpId(op)))
            if (std::ranges::binary_search(edge.values, read.operand.index)) place.reads.push_back(read);
    limit(place.reads);
    return place;
}

void GraphController::addCutMenu(QMenu& menu, const Hit& hit)
{
    const models::PinPlace place = placeOf(hit);
    if (!m_document.plan() || (!place.value.valid() && place.reads.empty() && place.hops.empty())) return;
    const models::Settings& settings = m_document.settings();
    const bool optimum = !base::isRule(settings.strategy);
    models::addPinChoices(menu, models::pinChoices(*m_maker.model(), *m_document.plan(), settings.pins, place, optimum),
                          [this](const plan::Pin& chosen) { emit m_panel.pinToggled(chosen); });
    if (!place.value.valid()) return;
    QAction* release = menu.addAction(tr("Let the strategy decide"), this, [this, place] { unpin(place.value.index); });
    release->setEnabled(models::isPinned(settings.pins, place.value));
    menu.addSeparator();
    const protocol::OpId producer = m_maker.model()->values[place.value].producer;
    if (producer.valid())
        menu.addAction(tr("Select producer"), this, [this, producer] { m_selection.reveal(Target::op(producer)); });
}

void GraphController::dragOver(int value, const Hit& hit)
{
    const int to = valueOf(hit);
    const bool known = to >= 0 && to != value && whyNotStored(to).isEmpty();
    if (!known) emit m_panel.dragEnded();
    m_view->setNote(hit.kind == Hit::Kind::Nothing || to == value ? QString() : whyNotStored(to));
    if (!known) return;
    emit m_panel.checkpointDragged(protocol::ValueId(value), protocol::ValueId(to));
}

void GraphController::dropOn(int value, const Hit& hit)
{
    const int to = valueOf(hit);
    if (to == value) return;
    if (const QString why = whyNotStored(to); !why.isEmpty()) return emit m_panel.contextHelpRequested(why);
    emit m_panel.checkpointMoved(protocol::ValueId(value), protocol::ValueId(to));
}

void GraphController::showPreview()
{
    const models::Preview& preview = m_document.preview();
    if (!preview.plan) {
        if (m_view->dragging()) m_view->setNote(preview.refusal);
        if (m_maker.busy()) return;  // what has been dropped is on its way: until then its preview is shown
        m_view->setPreview(nullptr);
        return recolour();
    }
    m_view->setNote(previewText(*m_document.plan(), *preview.plan));
    m_maker.buildPreview(preview.plan, [this, plan = preview.plan](const ScenePtr& scene) {
        if (plan == m_document.preview().plan) showPreviewScene(scene);
    });
}

void GraphController::showPreviewScene(const ScenePtr& scene)
{
    const schema::Report* report = m_document.runs().empty() ? nullptr : m_document.runs().back().report.get();
    m_view->setPreview(scene);
    m_view->setColouring(
        colourNodes(*scene, m_mode, {m_maker.model().get(), m_document.preview().plan.get(), report}, m_theme));
}

}  // namespace hopscope::graphview
