#include "graphview/view/cut_editor.h"

#include <QLineF>
#include <map>

#include "graphview/view/cut_preview.h"
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

CutEditor::CutEditor(const GraphParts& parts, const SceneTargets& targets, ColourModes& colours)
    : m_parts(parts),
      m_targets(targets),
      m_colours(colours)
{}

void CutEditor::showHelp(const QString& sentence) { emit m_parts.panel.contextHelpRequested(sentence); }

QString CutEditor::whyNotStored(ValueId value) const
{
    if (!value.valid())
        return tr("Nothing can be stored here. Drop the stored value on an operator whose result has rows.");
    return models::whyNotStored(*m_parts.maker.model(), value);
}

void CutEditor::pin(base::PinKind kind, ValueId value)
{
    const QString why = !value.valid() ? tr("Select a node or an edge first.") : whyNotStored(value);
    if (!why.isEmpty()) return showHelp(why);
    emit m_parts.panel.pinRequested({.kind = kind, .value = value});
}

void CutEditor::unpin(ValueId value)
{
    if (!value.valid()) return showHelp(tr("Select a node or an edge first."));
    emit m_parts.panel.unpinRequested(value);
}

void CutEditor::removeSelected()
{
    const ValueId value = m_targets.selectedValue();
    const models::PlanPtr& plan = m_parts.maker.plan();
    if (value.valid() && plan && plan->checkpointOf(value)) return pin(base::PinKind::NoCheckpoint, value);
    showHelp(tr("Select a stored value first."));
}

// Operands from outside of a node are cut off at its edge; in a closed module a gather and its aggregation are one hop.
models::PinPlace CutEditor::placeOfNode(int node) const
{
    const protocol::ModelRecord& model = *m_parts.maker.model();
    const Scene& scene = *m_parts.view.scene();
    models::PinPlace place{.value = m_targets.valueOfNode(node), .hops = {}, .reads = {}};
    const OpList& ops = scene.graph->nodes[node].ops;
    const bool aggregates =
        std::ranges::any_of(ops, [&](OpId op) { return model.ops[op].kind == NodeKind::Aggregate; });
    for (const OpId op : ops) {
        const protocol::OpRecord& record = model.ops[op];
        if (record.structureOnly) continue;
        const bool hop = record.kind == NodeKind::Aggregate || (record.kind == NodeKind::Gather && !aggregates);
        if (hop && !record.outputs.empty()) place.hops.push_back(record.outputs.front());
        for (const auto& read : models::readsOf(model, op))
            if (scene.graph->nodeOf[model.values[read.operand].producer] != node) place.reads.push_back(read);
    }
    limit(place.hops);
    limit(place.reads);
    return place;
}

models::PinPlace CutEditor::placeOf(const Hit& hit) const
{
    if (hit.kind == Hit::Kind::Node || hit.kind == Hit::Kind::Expander) return placeOfNode(hit.index);
    models::PinPlace place{.value = m_targets.valueOf(hit), .hops = {}, .reads = {}};
    if (hit.kind != Hit::Kind::Edge) return place;
    const Scene& scene = *m_parts.view.scene();
    const SceneEdge& edge = scene.edges[hit.index];
    for (const OpId op : scene.graph->nodes[edge.to].ops)
        for (const auto& read : models::readsOf(*m_parts.maker.model(), op))
            if (std::ranges::binary_search(edge.values, read.operand)) place.reads.push_back(read);
    limit(place.reads);
    return place;
}

void CutEditor::addToMenu(QMenu& menu, const Hit& hit)
{
    const models::PinPlace place = placeOf(hit);
    const models::PlanPtr& plan = m_parts.document.plan();
    if (!plan || (!place.value.valid() && place.reads.empty() && place.hops.empty())) return;
    const protocol::ModelRecord& model = *m_parts.maker.model();
    const models::Settings& settings = m_parts.document.settings();
    models::addPinChoices(menu,
                          models::pinChoices(model, *plan, settings.pins, place, !base::isRule(settings.strategy)),
                          [this](const plan::Pin& chosen) { emit m_parts.panel.pinToggled(chosen); });
    if (!place.value.valid()) return;
    QAction* release =
        menu.addAction(tr("Let the Strategy Decide"), &m_parts.panel, [this, place] { unpin(place.value); });
    release->setEnabled(models::isPinned(settings.pins, place.value));
    release->setObjectName(QStringLiteral("graphLetPlan"));
    menu.addSeparator();
    const protocol::OpId producer = model.values[place.value].producer;
    if (!producer.valid()) return;
    menu.addAction(tr("Select Producer"), &m_parts.panel,
                   [this, producer] { m_parts.selection.reveal(Target::op(producer)); });
}

void CutEditor::dragOver(ValueId value, const Hit& hit)
{
    const ValueId to = m_targets.valueOf(hit);
    const bool known = to.valid() && to != value && whyNotStored(to).isEmpty();
    if (!known) emit m_parts.panel.dragEnded();
    m_parts.view.drag().setNote(hit.kind == Hit::Kind::Nothing || to == value ? QString() : whyNotStored(to));
    if (known) emit m_parts.panel.checkpointDragged(value, to);
}

void CutEditor::dropOn(ValueId value, const Hit& hit)
{
    const ValueId to = m_targets.valueOf(hit);
    if (to == value) return;
    if (const QString why = whyNotStored(to); !why.isEmpty())
        return emit m_parts.panel.contextHelpRequested(why, {.from = value, .places = nearestPlaces(value)});
    emit m_parts.panel.checkpointMoved(value, to);
}

std::vector<ValueId> CutEditor::nearestPlaces(ValueId otherThan) const
{
    constexpr std::size_t most = 6;
    const Scene& scene = *m_parts.view.scene();
    const QPointF at = m_parts.view.camera().toScene(m_parts.view.drag().at());
    std::map<qreal, ValueId> near;
    for (std::size_t node = 0; node < scene.nodes.size(); ++node) {
        const ValueId value = m_targets.valueOfNode(static_cast<int>(node));
        if (!value.valid() || value == otherThan || !whyNotStored(value).isEmpty()) continue;
        near.emplace(QLineF(at, scene.nodes[node].center()).length(), value);
        if (near.size() > most) near.erase(std::prev(near.end()));
    }
    std::vector<ValueId> places;
    for (const auto& [distance, value] : near) places.push_back(value);
    return places;
}

void CutEditor::showPreview()
{
    const models::Preview& preview = m_parts.document.preview();
    GraphView& view = m_parts.view;
    if (!preview.plan) {
        if (view.drag().moving()) view.drag().setNote(preview.refusal);
        if (m_parts.maker.busy()) return;  // the drop is being applied: its preview is shown until then
        view.setPreview(nullptr);
        return m_colours.recolour();
    }
    view.drag().setNote(previewText(*m_parts.document.plan(), *preview.plan));
    m_parts.maker.buildPreview(preview.plan, [this, plan = preview.plan](const ScenePtr& scene) {
        if (plan != m_parts.document.preview().plan) return;
        m_parts.view.setPreview(scene);
        m_colours.recolourPreview(scene);
    });
}

}  // namespace hopscope::graphview
