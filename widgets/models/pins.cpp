#include "models/pins.h"

#include <algorithm>

#include "models/labels.h"
#include "models/tr.h"

namespace hopscope::models {

namespace {

using plan::Pin;
using plan::PinKind;
using protocol::ModelRecord;
using protocol::NodeKind;
using protocol::ValueId;

QString labelOf(const ModelRecord& model, ValueId value)
{
    return model.values.contains(value) ? valueLabel(model, value) : text(ir::valueName(value));
}

bool isOutput(const ModelRecord& model, ValueId value)
{
    return std::ranges::any_of(model.values[value].consumers,
                               [&](protocol::OpId op) { return model.ops[op].kind == NodeKind::Output; });
}

// The reason why a value cannot have pins; empty: it can.
QString whyFixed(const ModelRecord& model, ValueId value)
{
    const protocol::ValueRecord& record = model.values[value];
    if (!record.producer.valid() || model.ops[record.producer].kind == NodeKind::Input)
        return tr("Every stage can read inputs and weights.");
    if (record.structureOnly) return tr("It is computed once for the whole graph.");
    if (!record.hasRows()) return tr("It has no row per node or edge; every stage can read it as a whole.");
    return {};
}

class Choices {
public:
    Choices(const ModelRecord& model, const protocol::PlanRecord& plan, const std::vector<Pin>& pins, bool optimum)
        : m_model(model),
          m_plan(plan),
          m_pins(pins),
          m_optimum(optimum)
    {}

    void addValue(ValueId value)
    {
        const QString fixed = whyFixed(m_model, value), storing = whyNotStored(m_model, value);
        for (const base::PinTraits& kind : base::pinKinds)
            if (kind.third == base::PinThird::Nothing)
                add({}, tr(kind.action), tr(kind.tip), {.kind = kind.kind, .value = value},
                    base::isStoring(kind.kind) ? storing : fixed);
    }

    void addRead(ValueId operand, ValueId consumer, bool alone)
    {
        const QString from = valueLabel(m_model, operand), to = valueLabel(m_model, consumer);
        const QString what = tr("Wherever %1 is computed, %2 is read from a store.").arg(to, from);
        const Pin pin{.kind = PinKind::Cut, .value = operand, .consumer = consumer};
        if (alone) add({}, tr("Cut Here and Read from a Store"), what, pin, {});
        else add(tr("Cut and Read from a Store"), tr("%1 for %2").arg(from, to), what, pin, {});
    }

    void addStages(ValueId hop, bool alone)
    {
        const QString name = valueLabel(m_model, hop),
                      group = alone ? tr("Run in Stage") : tr("Run %1 in Stage").arg(name);
        const int last = static_cast<int>(m_plan.stages.size()) + 1;
        for (int stage = 1; stage <= last; ++stage)
            add(group, QString::number(stage),
                tr("The neighbours for %1 are gathered in stage %2.").arg(name).arg(stage),
                {.kind = PinKind::HopStage, .value = hop, .stage = protocol::StageId(stage)}, {});
    }

    [[nodiscard]] std::vector<PinChoice> take() { return std::move(m_choices); }

private:
    void add(const QString& group, const QString& text, const QString& tip, const Pin& pin, const QString& why)
    {
        PinChoice choice{.group = group, .text = text, .tip = tip, .pin = pin};
        choice.chosen = std::ranges::find(m_pins, pin) != m_pins.end();
        choice.possible = why.isEmpty();
        if (!choice.possible) choice.tip = why;
        else if (!base::isStoring(pin.kind) && !m_optimum)
            choice.tip +=
                u' ' +
                tr("Heuristics do not support this pin; the strategy changes to the optimal plan around your pins.");
        m_choices.push_back(std::move(choice));
    }

    const ModelRecord& m_model;
    const protocol::PlanRecord& m_plan;
    const std::vector<Pin>& m_pins;
    bool m_optimum;
    std::vector<PinChoice> m_choices;
};

}  // namespace

QString pinLabel(const ModelRecord& model, const Pin& pin)
{
    const QString third = pin.consumer.valid() ? labelOf(model, pin.consumer) : QString::number(pin.stage.number);
    return text(base::pinText(pin.kind, labelOf(model, pin.value).toStdString(), third.toStdString()));
}

QString whyNotStored(const ModelRecord& model, ValueId value)
{
    return isOutput(model, value) ? tr("Outputs of the model are always stored.") : whyFixed(model, value);
}

bool isHop(const protocol::OpRecord& op) { return op.kind == NodeKind::Gather || op.kind == NodeKind::Aggregate; }

std::vector<PinRead> readsOf(const ModelRecord& model, protocol::OpId op)
{
    std::vector<PinRead> reads;
    const protocol::OpRecord& record = model.ops[op];
    if (record.outputs.empty() || record.structureOnly) return reads;
    for (const ValueId input : record.inputs) {
        const bool known = std::ranges::find(reads, input, &PinRead::operand) != reads.end();
        if (!known && whyFixed(model, input).isEmpty()) reads.push_back({input, record.outputs.front()});
    }
    return reads;
}

PinPlace placeOf(const ModelRecord& model, ValueId value)
{
    PinPlace place{.value = value, .hops = {}, .reads = {}};
    if (!value.valid() || !model.values[value].producer.valid()) return place;
    const protocol::OpId producer = model.values[value].producer;
    if (isHop(model.ops[producer])) place.hops = {value};
    place.reads = readsOf(model, producer);
    return place;
}

std::vector<PinChoice> pinChoices(const ModelRecord& model, const protocol::PlanRecord& plan,
                                  const std::vector<Pin>& pins, const PinPlace& place, bool optimum)
{
    Choices choices(model, plan, pins, optimum);
    if (place.value.valid()) choices.addValue(place.value);
    for (const auto& [operand, consumer] : place.reads) choices.addRead(operand, consumer, place.reads.size() == 1);
    for (const ValueId hop : place.hops) choices.addStages(hop, place.hops.size() == 1);
    return choices.take();
}

bool isPinned(const std::vector<Pin>& pins, ValueId value)
{
    return std::ranges::any_of(pins, [&](const Pin& pin) { return plan::mentions(pin, value); });
}

}  // namespace hopscope::models
