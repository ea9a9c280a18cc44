#include "study/rules/rule_steps.h"

#include <algorithm>
#include <map>

#include "models/labels.h"
#include "models/tr.h"

namespace hopscope::study {

namespace {

using base::Strategy;
using base::WalkKind;
using plan::WalkStep;
using plan::Walkthroughs;
using protocol::ModelRecord;
using protocol::StageId;

constexpr int mostNames = 6;  // of one stage, listed in a sentence

QString unknown() { return QStringLiteral("–"); }

QString nameOf(Strategy strategy) { return models::capitalised(models::strategyLabel(strategy)); }

const plan::Walkthrough* walkOf(const Walkthroughs& all, Strategy strategy)
{
    const auto found = std::ranges::find(all.ways, strategy, &plan::Walkthrough::strategy);
    return found == all.ways.end() ? nullptr : &*found;
}

// The colouring also begins with the stages of the depths.
WalkStep stepOf(const Walkthroughs& all, const Way& way, int step)
{
    const auto at = static_cast<std::size_t>(step);
    if (way.strategy) return walkOf(all, *way.strategy)->steps[at];
    if (step > 0) return {.kind = WalkKind::Store, .moved = {}, .stored = all.colouring->stored[at - 1]};
    return all.ways.front().steps.front();
}

QString label(const ModelRecord& model, protocol::ValueId value) { return models::text(model.values[value].label); }

std::map<protocol::OpId, std::vector<StageId>> stagesAfter(const Walkthroughs& all, const Way& way, int step,
                                                           const ModelRecord& model)
{
    std::map<protocol::OpId, std::vector<StageId>> stages;
    for (int i = 0; i <= step; ++i)
        for (const plan::MovedOp& moved : stepOf(all, way, i).moved) stages[model.findOp(moved.op)] = moved.stages;
    return stages;
}

int lastStage(const std::map<protocol::OpId, std::vector<StageId>>& stages)
{
    int last = 1;
    for (const auto& [op, in] : stages)
        for (const StageId stage : in) last = std::max(last, stage.number);
    return last;
}

QString labelCaption(const Way& way)
{
    if (!way.strategy)
        return tr("All values are white: none is stored. Every path from one hop to the next has to be cut somewhere, "
                  "by writing a value and reading it back.");
    return tr("Each operator runs in %1. There is a cut wherever this number grows. Values that depend on inputs alone "
              "start in stage 1.")
        .arg(tr(base::traitsOf(*way.strategy).start));
}

QString pullCaption()
{
    return tr("A cut moves back towards the inputs, past operators with one operand, until it meets an input, message "
              "passing, or a value that several stages use. These operators now belong to the stage after it.");
}

// For the whole colouring.
QString cutCaption(const Walkthroughs& all)
{
    const double cost = all.colouring->cost;
    const QString amount =
        all.unit == base::Unit::Bytes ? models::formatBytes(cost) : models::formatSecondsFinely(cost);
    const QString gap = tr(" This is not a plan yet: a later stage would lack some value.");
    return tr(" Every path is cut now, at the lowest cost for writing and reading: %1.").arg(amount) +
           (all.colouring->missing ? gap : QString());
}

QString settleCaption(const Way& way)
{
    if (way.strategy == Strategy::Optimal)
        return tr("The optimum weighs the costs of writing, reading and recomputing. These operators run in several "
                  "stages, or in one that is not the stage of their depth.");
    return tr("Values that are not stored are computed in each stage that needs them: these operators follow their "
              "consumers.");
}

QString storeCaption(const Way& way, const QString& value)
{
    if (!way.strategy)
        return tr("%1 is coloured black and drawn as a cylinder: it is stored, and read back after the cut.")
            .arg(value);
    return tr("%1 is stored: a later stage reads it.").arg(value);
}

QString stagesText(const std::vector<StageId>& stages)
{
    if (stages.empty()) return tr("Not needed");
    QStringList numbers;
    for (const StageId stage : stages) numbers << QString::number(stage.number);
    return (stages.size() == 1 ? tr("Stage %1") : tr("Stages %1")).arg(numbers.join(tr(", ")));
}

QString opName(const ModelRecord& model, protocol::OpId op)
{
    const protocol::OpRecord& record = model.ops[op];
    return record.outputs.empty() ? models::text(record.name) : label(model, record.outputs.front());
}

// Stored values of a plan by name, without its results.
QStringList storedNames(const protocol::PlanRecord& plan, const ModelRecord& model)
{
    QStringList names;
    for (const protocol::PlanCheckpoint& store : plan.checkpoints)
        if (!store.output) names << label(model, store.value);
    return names;
}

WaySummary summaryOf(Strategy strategy, const models::Document& document)
{
    WaySummary line{
        .name = nameOf(strategy), .stages = unknown(), .stores = unknown(), .moved = unknown(), .again = unknown()};
    const models::PlanPtr plan = document.reference(strategy);
    if (!plan) return line;
    const QStringList names = storedNames(*plan, *document.model());
    line.stages = QString::number(plan->stages.size());
    line.stores = QString::number(names.size());
    line.values = names.join(tr(", "));
    if (!plan->predicted) return line;
    std::size_t again = 0;
    for (const protocol::PredictedStage& stage : plan->predicted->stages) again += stage.recomputed.size();
    line.again = QString::number(again);
    line.moved = models::formatBytes(static_cast<double>(plan->predicted->d2h + plan->predicted->h2d));
    return line;
}

WaySummary colouringSummary(const plan::Colouring& colouring, const ModelRecord& model)
{
    QStringList names;
    for (const protocol::ValueId value : colouring.stored) names << label(model, value);
    return {.name = tr("Minimum cut"),
            .stages = unknown(),
            .stores = QString::number(names.size()),
            .moved = unknown(),
            .again = unknown(),
            .values = names.join(tr(", "))};
}

}  // namespace

std::vector<Way> waysOf(const Walkthroughs& all)
{
    std::vector<Way> ways;
    for (const plan::Walkthrough& walk : all.ways) {
        if (walk.strategy == Strategy::Optimal && all.colouring)
            ways.push_back({.name = tr("Minimum cut"),
                            .strategy = std::nullopt,
                            .steps = static_cast<int>(all.colouring->stored.size()) + 1});
        ways.push_back(
            {.name = nameOf(walk.strategy), .strategy = walk.strategy, .steps = static_cast<int>(walk.steps.size())});
    }
    return ways;
}

models::PlanPtr planAfter(const Walkthroughs& all, const Way& way, int step, const ModelRecord& model)
{
    auto plan = std::make_shared<protocol::PlanRecord>();
    const auto stages = stagesAfter(all, way, step, model);
    for (int number = 1; number <= lastStage(stages); ++number)
        plan->stages.push_back({.index = StageId(number), .steps = {}, .reads = {}, .writes = {}});
    for (const auto& [op, in] : stages)
        for (const StageId stage : in)
            plan->stages[static_cast<std::size_t>(stage.number) - 1].steps.push_back(
                {.op = op, .rows = {}, .loop = {}});
    for (int i = 0; i <= step; ++i)
        if (const auto stored = stepOf(all, way, i).stored) {
            const auto from = stages.find(model.values[*stored].producer);
            const StageId stage = from == stages.end() || from->second.empty() ? StageId(1) : from->second.front();
            plan->checkpoints.push_back({.value = *stored, .stage = stage, .bytesWritten = {}, .bytesRead = {}});
        }
    plan->indexStages();
    return plan;
}

QString captionOf(const Walkthroughs& all, const Way& way, int step, const ModelRecord& model)
{
    const WalkStep now = stepOf(all, way, step);
    QString text;
    switch (now.kind) {
    case WalkKind::Label: text = labelCaption(way); break;
    case WalkKind::Pull: text = pullCaption(); break;
    case WalkKind::Settle: text = settleCaption(way); break;
    case WalkKind::Store: text = storeCaption(way, label(model, *now.stored)); break;
    }
    const bool whole = !way.strategy && step + 1 == way.steps;
    return whole ? text + cutCaption(all) : text;
}

QStringList movesOf(const Walkthroughs& all, const Way& way, int step, const ModelRecord& model)
{
    std::map<std::vector<StageId>, QStringList> groups;
    for (const plan::MovedOp& moved : stepOf(all, way, step).moved)
        groups[moved.stages] << opName(model, model.findOp(moved.op));
    QStringList lines;
    for (auto& [stages, names] : groups) {
        const qsizetype more = names.size() - mostNames;
        const QString rest = more > 0 ? tr(" and %1 more").arg(more) : QString();
        lines << stagesText(stages) + tr(": ") + names.mid(0, mostNames).join(tr(", ")) + rest;
    }
    return lines;
}

std::vector<WaySummary> summaries(const Walkthroughs& all, const models::Document& document)
{
    std::vector<WaySummary> lines;
    for (const Way& way : waysOf(all))
        lines.push_back(way.strategy ? summaryOf(*way.strategy, document)
                                     : colouringSummary(*all.colouring, *document.model()));
    return lines;
}

}  // namespace hopscope::study
