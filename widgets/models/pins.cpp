#include "models/pins.h"

#include <QCoreApplication>
#include <algorithm>

#include "models/labels.h"

namespace hopscope::models {

namespace {

using protocol::ModelRecord;
using protocol::PinRecord;

QString tr(const char* text) { return QCoreApplication::translate("Pins", text); }

QString labelOf(const ModelRecord& model, const std::string& value)
{
    const int index = model.valueIndex(value);
    return index < 0 ? text(value) : valueLabel(model, index);
}

const protocol::ValueRecord& valueAt(const ModelRecord& model, int value)
{
    return model.values[static_cast<std::size_t>(value)];
}

bool isOutput(const ModelRecord& model, int value)
{
    return std::ranges::any_of(valueAt(model, value).consumers,
                               [&](int op) { return model.ops[static_cast<std::size_t>(op)].kind == "output"; });
}

// Why nothing can be decided about a value; empty: something can.
QString whyFixed(const ModelRecord& model, int value)
{
    const protocol::ValueRecord& record = valueAt(model, value);
    if (record.producer < 0 || model.ops[static_cast<std::size_t>(record.producer)].kind == "input")
        return tr("Inputs can be read by every stage.");
    if (record.structureOnly) return tr("Computed once for the whole graph.");
    if (!record.hasRows()) return tr("Without a row per node or edge: available to every stage as a whole.");
    return {};
}

class Choices {
public:
    Choices(const ModelRecord& model, const protocol::PlanRecord& plan, const std::vector<PinRecord>& pins,
            bool optimum)
        : m_model(model),
          m_plan(plan),
          m_pins(pins),
          m_optimum(optimum)
    {}

    void addValue(int value)
    {
        const std::string& id = valueAt(m_model, value).id;
        const QString fixed = whyFixed(m_model, value);
        const QString always = tr("Outputs of the model are always stored.");
        const QString storing = isOutput(m_model, value) ? always : fixed;
        add({}, tr("Store here"), tr("Always store it from now on."), {"checkpoint", id}, storing);
        add({}, tr("Never store"), tr("Recompute it where it is needed later."), {"no_checkpoint", id}, storing);
        add({}, tr("Do not recompute"), tr("Compute it once: in a single stage, on a single row class."),
            {"no_recompute", id}, fixed);
    }

    void addRead(int operand, int consumer, bool alone)
    {
        const QString from = valueLabel(m_model, operand), to = valueLabel(m_model, consumer);
        const QString what = tr("Wherever %1 is computed, %2 is read from a store.").arg(to, from);
        const PinRecord pin{"cut", valueAt(m_model, operand).id, valueAt(m_model, consumer).id};
        if (alone) add({}, tr("Cut here: read from a store"), what, pin, {});
        else add(tr("Cut: read from a store"), tr("%1 for %2").arg(from, to), what, pin, {});
    }

    void addStages(int hop, bool alone)
    {
        const QString name = valueLabel(m_model, hop),
                      group = alone ? tr("Run in stage") : tr("Run %1 in stage").arg(name);
        const int last = static_cast<int>(m_plan.stages.size()) + 1;
        for (int stage = 1; stage <= last; ++stage)
            add(group, QString::number(stage),
                tr("The neighbours for %1 are gathered in stage %2.").arg(name).arg(stage),
                {"hop_stage", valueAt(m_model, hop).id, {}, stage}, {});
    }

    [[nodiscard]] std::vector<PinChoice> take() { return std::move(m_choices); }

private:
    void add(const QString& group, const QString& text, const QString& tip, const PinRecord& pin, const QString& why)
    {
        PinChoice choice{group, text, tip, pin};
        choice.chosen = std::ranges::find(m_pins, pin) != m_pins.end();
        choice.possible = why.isEmpty();
        if (!choice.possible) choice.tip = why;
        else if (protocol::needsOptimum(pin) && !m_optimum)
            choice.tip += u' ' + tr("Rules do not support this pin: switches to the optimal plan around your pins.");
        m_choices.push_back(std::move(choice));
    }

    const ModelRecord& m_model;
    const protocol::PlanRecord& m_plan;
    const std::vector<PinRecord>& m_pins;
    bool m_optimum;
    std::vector<PinChoice> m_choices;
};

}  // namespace

QString pinLabel(const ModelRecord& model, const PinRecord& pin)
{
    const QString name = labelOf(model, pin.value);
    if (pin.kind == "checkpoint") return tr("store %1").arg(name);
    if (pin.kind == "no_checkpoint") return tr("never store %1").arg(name);
    if (pin.kind == "no_recompute") return tr("compute %1 only once").arg(name);
    if (pin.kind == "hop_stage") return tr("run %1 in stage %2").arg(name).arg(pin.stage);
    return tr("read %1 from a store for %2").arg(name, labelOf(model, pin.consumer));
}

bool isHop(const protocol::OpRecord& op) { return op.kind == "gather" || op.kind == "aggregate"; }

std::vector<std::pair<int, int>> readsOf(const ModelRecord& model, int op)
{
    std::vector<std::pair<int, int>> reads;
    const protocol::OpRecord& record = model.ops[static_cast<std::size_t>(op)];
    if (record.outputs.empty() || record.structureOnly) return reads;
    for (const int input : record.inputs) {
        const std::pair read{input, record.outputs.front()};
        if (whyFixed(model, input).isEmpty() && std::ranges::find(reads, read) == reads.end()) reads.push_back(read);
    }
    return reads;
}

PinPlace placeOf(const ModelRecord& model, int value)
{
    PinPlace place{value, {}, {}};
    if (value < 0 || valueAt(model, value).producer < 0) return place;
    const int producer = valueAt(model, value).producer;
    if (isHop(model.ops[static_cast<std::size_t>(producer)])) place.hops = {value};
    place.reads = readsOf(model, producer);
    return place;
}

std::vector<PinChoice> pinChoices(const ModelRecord& model, const protocol::PlanRecord& plan,
                                  const std::vector<PinRecord>& pins, const PinPlace& place, bool optimum)
{
    Choices choices(model, plan, pins, optimum);
    if (place.value >= 0) choices.addValue(place.value);
    for (const auto& [operand, consumer] : place.reads) choices.addRead(operand, consumer, place.reads.size() == 1);
    for (const int hop : place.hops) choices.addStages(hop, place.hops.size() == 1);
    return choices.take();
}

bool isPinned(const std::vector<PinRecord>& pins, const std::string& value)
{
    return std::ranges::any_of(pins, [&](const PinRecord& pin) { return protocol::mentions(pin, value); });
}

}  // namespace hopscope::models
