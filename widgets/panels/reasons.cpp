#include "panels/reasons.h"

#include <set>

#include "models/explanation_model.h"
#include "models/labels.h"
#include "models/operator_times.h"
#include "models/pins.h"
#include "models/tr.h"

namespace hopscope::panels {

namespace {

using models::formatBytes;
using models::stageList;
using plan::Pin;
using plan::PinKind;
using protocol::ModelRecord;
using protocol::NodeKind;
using protocol::OpId;
using protocol::OpRecord;
using protocol::PlanRecord;
using protocol::StageId;
using protocol::ValueId;

// The value that an operator makes; for an output: the value that it returns, if there is one.
ValueId shownValue(const OpRecord& op)
{
    if (!op.outputs.empty()) return op.outputs.front();
    return op.inputs.empty() ? ValueId() : op.inputs.front();
}

QString stageOf(const ModelRecord& model, const PlanRecord* plan, OpId op)
{
    if (plan == nullptr) return QStringLiteral("–");
    const std::vector<StageId> stages = plan->stagesOf(op);
    const OpRecord& record = model.ops[op];
    if (stages.size() > 1) return tr("%1, recomputed in each").arg(stageList(stages));
    if (stages.size() == 1) return QString::number(stages.front().number);
    if (std::ranges::find(plan->prologue, op) != plan->prologue.end()) return tr("prologue (once per graph)");
    if (record.kind == NodeKind::Output && record.stage.valid()) return QString::number(record.stage.number);
    return record.kind == NodeKind::Input ? tr("given") : QStringLiteral("–");
}

QString depthText(const OpRecord& op)
{
    if (op.depthModule == op.depth && op.depthOp == op.depth) return QString::number(op.depth);
    return tr("%1 · by modules %2 · by aggregations %3").arg(op.depth).arg(op.depthModule).arg(op.depthOp);
}

// The depth of a value's operator; parameters, constants and structure have none.
int depthOf(const ModelRecord& model, ValueId value)
{
    const protocol::ValueRecord& record = model.values[value];
    if (!record.producer.valid() || record.structureOnly) return -1;
    return model.ops[record.producer].depth;
}

// The input that determines an operator's depth: the deepest, the first of equals; none if no input has rows.
ValueId deepestInput(const ModelRecord& model, const OpRecord& op)
{
    ValueId found;
    int depth = -1;
    for (const ValueId input : op.inputs) {
        if (depthOf(model, input) <= depth) continue;
        found = input;
        depth = depthOf(model, input);
    }
    return found;
}

bool within(const QString& path, const QString& module)
{
    return module.isEmpty() || path == module || path.startsWith(module + QLatin1Char('.'));
}

QString percent(double part, double whole)
{
    return QStringLiteral("%1 %").arg(whole > 0 ? 100 * part / whole : 0, 0, 'f', 1);
}

QString bytesChange(std::int64_t now, std::int64_t then)
{
    const auto change = static_cast<double>(then - now);
    if (change == 0) return tr("moves the same %1").arg(formatBytes(static_cast<double>(now)));
    const QString size = formatBytes(std::abs(change)), share = percent(std::abs(change), static_cast<double>(now));
    return (change > 0 ? tr("moves %1 more (+%2)") : tr("moves %1 less (−%2)")).arg(size, share);
}

QString opsChange(int now, int then)
{
    if (then == now) return {};
    const int count = std::abs(then - now);
    if (then > now)
        return count == 1 ? tr("recomputes 1 more operator") : tr("recomputes %1 more operators").arg(count);
    return count == 1 ? tr("recomputes 1 fewer operator") : tr("recomputes %1 fewer operators").arg(count);
}

QString memoryChange(const PlanRecord& now, const PlanRecord& then)
{
    if (!now.predicted || !then.predicted) return {};
    const QString before = formatBytes(static_cast<double>(now.predicted->peakMemory)),
                  after = formatBytes(static_cast<double>(then.predicted->peakMemory));
    return before == after ? QString() : tr("peak memory %1 instead of %2").arg(after, before);
}

QString stagesChange(const PlanRecord& now, const PlanRecord& then)
{
    if (now.stages.size() == then.stages.size()) return {};
    return (then.stages.size() == 1 ? tr("%1 stage instead of %2") : tr("%1 stages instead of %2"))
        .arg(then.stages.size())
        .arg(now.stages.size());
}

bool sameStores(const PlanRecord& left, const PlanRecord& right)
{
    const auto values = [](const PlanRecord& plan) {
        std::set<std::pair<ValueId, StageId>> found;
        for (const protocol::PlanCheckpoint& checkpoint : plan.checkpoints)
            found.emplace(checkpoint.value, checkpoint.stage);
        return found;
    };
    return values(left) == values(right);
}

CutQuestion closed(CutQuestion question, const QString& sentence)
{
    question.sentence = sentence;
    return question;
}

// The plan's pins with one answer replaced.
std::vector<Pin> withPin(const PlanRecord& plan, const Pin& answer)
{
    std::vector<Pin> pins;
    for (const Pin& pin : plan.pins)
        if (!plan::sameQuestion(pin, answer)) pins.push_back(pin);
    pins.push_back(answer);
    return pins;
}

bool hasPin(const PlanRecord& plan, const Pin& pin) { return std::ranges::find(plan.pins, pin) != plan.pins.end(); }

CutQuestion stored(CutQuestion question, const PlanRecord& plan, const protocol::PlanCheckpoint& checkpoint)
{
    question.heading = tr("Why cut here");
    if (checkpoint.output) return closed(question, tr("Outputs of the model are always stored."));
    question.can = CutQuestion::Can::Forbid;
    question.pins = withPin(plan, {.kind = PinKind::NoCheckpoint, .value = checkpoint.value});
    const bool pinned = hasPin(plan, {.kind = PinKind::Checkpoint, .value = checkpoint.value});
    const QString why = pinned ? tr("Stored by your pin") : tr("Stored by the strategy");
    question.sentence = tr("%1, after stage %2; %3 written.")
                            .arg(why)
                            .arg(checkpoint.stage.number)
                            .arg(formatBytes(checkpoint.bytesWritten));
    return question;
}

// The sum over all stages; 0 if unknown.
double predictedSeconds(const ModelRecord& model, const PlanRecord* plan, OpId op)
{
    double sum = 0;
    if (plan == nullptr || !plan->predicted) return sum;
    for (const protocol::PredictedStage& stage : plan->predicted->stages)
        for (const auto& [id, seconds] : stage.operators) sum += model.findOp(id) == op ? seconds : 0;
    return sum;
}

}  // namespace

std::vector<Fact> opFacts(const ModelRecord& model, const PlanRecord* plan, OpId op)
{
    const OpRecord& record = model.ops[op];
    const bool analysed = models::depthKnown(model);
    std::vector<Fact> facts;
    if (analysed || !record.computes()) facts.push_back({tr("kind"), models::kindLabel(record.kind)});
    if (const QString arguments = models::argumentsLabel(record); !arguments.isEmpty())
        facts.push_back({tr("arguments"), arguments});
    const ValueId value = shownValue(record);
    if (value.valid() && !(model.fromCode && model.values[value].dtype.empty())) {
        const protocol::ValueRecord& shown = model.values[value];
        if (analysed) facts.push_back({tr("rows"), models::rowsLabel(shown)});
        const QString size = shown.bytes ? QStringLiteral(" · ") + formatBytes(shown.bytes) : QString();
        facts.push_back({tr("shape"), models::shapeLabel(model, shown) + size});
    }
    if (!record.structureOnly && analysed) facts.push_back({tr("depth"), depthText(record)});
    facts.push_back({tr("stage"), stageOf(model, plan, op)});
    if (const double seconds = predictedSeconds(model, plan, op); seconds > 0)
        facts.push_back({tr("predicted"), tr("%1 to compute and store").arg(models::formatSecondsFinely(seconds))});
    return facts;
}

std::vector<Fact> moduleFacts(const ModelRecord& model, const PlanRecord* plan, const QString& path)
{
    int ops = 0, structure = 0, depth = 0;
    std::set<StageId> stages;
    for (std::size_t at = 0; at < model.ops.size(); ++at) {
        const OpRecord& op = model.ops[at];
        if (!op.computes() || !within(models::text(op.module), path)) continue;
        ++(op.structureOnly ? structure : ops);
        depth = std::max(depth, op.depth);
        if (plan != nullptr && !op.structureOnly)
            for (const StageId stage : plan->stagesOf(OpId(at))) stages.insert(stage);
    }
    std::int64_t weights = 0;
    for (const protocol::ValueRecord& value : model.values)
        if (value.origin == protocol::Origin::Parameter && within(models::text(value.name), path))
            weights += value.bytes.value_or(0);
    const QString counted = models::formatCount(ops);
    const QString shown = stages.empty() ? QStringLiteral("–") : stageList({stages.begin(), stages.end()});
    return {{tr("operators"),
             structure > 0 ? tr("%1, plus %2 structure-only").arg(counted, models::formatCount(structure)) : counted},
            {tr("weights"), formatBytes(static_cast<double>(weights))},
            {tr("depth"), models::depthKnown(model) ? tr("up to %1").arg(depth) : QStringLiteral("–")},
            {tr("stages"), shown}};
}

namespace {

std::vector<Fact> measuredFacts(const schema::Report* report, const std::vector<std::string>& operators)
{
    const auto sum = report != nullptr ? models::OperatorTimes(*report).of(operators) : std::nullopt;
    if (!sum) return {};
    QString time = models::formatSecondsFinely(sum->seconds);
    if (report->seconds > 0) time += tr(", %1 % of the run").arg(100 * sum->seconds / report->seconds, 0, 'f', 1);
    if (sum->others.size() == 1) time += tr(", in one pass over the edges with another operator");
    if (sum->others.size() > 1)
        time += tr(", in one pass over the edges with %1 other operators").arg(sum->others.size());
    const QString bytes = tr("%1 in a batch").arg(formatBytes(static_cast<double>(sum->bytes)));
    return {{tr("measured"), time}, {tr("largest result"), bytes}};
}

}  // namespace

std::vector<Fact> measuredFacts(const ModelRecord& model, const schema::Report* report, OpId op)
{
    return measuredFacts(report, {model.ops[op].id});
}

std::vector<Fact> measuredFacts(const ModelRecord& model, const schema::Report* report, const QString& path)
{
    std::vector<std::string> operators;
    for (const OpRecord& op : model.ops)
        if (op.computes() && within(models::text(op.module), path)) operators.push_back(op.id);
    return measuredFacts(report, operators);
}

std::vector<Fact> stageFacts(const PlanRecord& plan, StageId stage)
{
    std::vector<Fact> facts;
    for (const protocol::PlanStage& each : plan.stages) {
        if (each.index != stage) continue;
        std::set<OpId> ops;
        for (const protocol::PlanStep& step : each.steps) ops.insert(step.op);
        facts.push_back({tr("operators"), QString::number(ops.size())});
    }
    if (!plan.predicted) return facts;
    for (const protocol::PredictedStage& each : plan.predicted->stages) {
        if (each.index != stage) continue;
        facts.push_back({tr("writes"), formatBytes(static_cast<double>(each.written))});
        facts.push_back({tr("reads"), formatBytes(static_cast<double>(each.read))});
        facts.push_back({tr("peak"), tr("%1, estimated").arg(formatBytes(static_cast<double>(each.peakMemory)))});
        facts.push_back({tr("frontier"), tr("%1 rows for %2 destinations")
                                             .arg(models::formatCount(static_cast<double>(each.frontierRows)),
                                                  models::formatCount(static_cast<double>(each.destinations)))});
        facts.push_back({tr("recomputed"), (each.recomputed.size() == 1 ? tr("%1 operator of earlier stages")
                                                                        : tr("%1 operators of earlier stages"))
                                               .arg(each.recomputed.size())});
    }
    return facts;
}

std::vector<Hop> hopsBehind(const ModelRecord& model, OpId op)
{
    std::vector<Hop> hops;
    while (op.valid() && model.ops[op].depth > 0) {
        const ValueId input = deepestInput(model, model.ops[op]);
        if (!input.valid()) break;
        if (depthOf(model, input) < model.ops[op].depth) hops.push_back({op, input});
        op = model.values[input].producer;
    }
    std::ranges::reverse(hops);
    return hops;
}

QString depthHeading(const OpRecord& op)
{
    return op.structureOnly ? tr("Why it has no depth") : tr("Why depth %1").arg(op.depth);
}

QString depthReason(const ModelRecord& model, OpId op)
{
    const OpRecord& record = model.ops[op];
    if (record.kind == NodeKind::Input) return tr("It is an input: no computation is needed.");
    if (record.structureOnly)
        return tr("It depends on the graph structure only, and is computed once for the whole graph, before the first "
                  "stage.");
    if (record.depth == 0) return tr("It is computed without values of neighbours.");
    const ValueId input = deepestInput(model, record);
    if (input.valid() && depthOf(model, input) < record.depth)
        return tr("It gathers %1 (depth %2) from the neighbours: one more hop.")
            .arg(models::valueLabel(model, input))
            .arg(std::max(depthOf(model, input), 0));
    return record.depth == 1 ? tr("Its receptive field is one hop:")
                             : tr("Its receptive field is %1 hops:").arg(record.depth);
}

CutQuestion cutQuestion(const ModelRecord& model, const PlanRecord* plan, OpId op)
{
    const OpRecord& record = model.ops[op];
    CutQuestion question;
    question.heading = tr("Why not cut here");
    question.value = shownValue(record);
    if (plan == nullptr || !question.value.valid()) return closed(question, tr("There is no plan."));
    const protocol::ValueRecord& value = model.values[question.value];
    question.pinned = models::isPinned(plan->pins, question.value);
    if (const protocol::PlanCheckpoint* checkpoint = plan->checkpointOf(question.value))
        return stored(question, *plan, *checkpoint);
    if (value.structureOnly)
        return closed(question, tr("It is computed once for the whole graph and kept, so no cut is needed."));
    if (record.kind == NodeKind::Input)
        return closed(question, tr("Inputs are read from their files: storing them again has no benefit."));
    if (!value.hasRows()) return closed(question, tr("It has no rows; every stage can read it as a whole."));
    question.can = CutQuestion::Can::Store;
    question.pins = withPin(*plan, {.kind = PinKind::Checkpoint, .value = question.value});
    if (hasPin(*plan, {.kind = PinKind::NoCheckpoint, .value = question.value}))
        question.sentence = tr("Your pin forbids storing it.");
    return question;
}

QString cutAnswer(const CutQuestion& question, const PlanRecord& now, const PlanRecord& then)
{
    const bool store = question.can == CutQuestion::Can::Store;
    if (sameStores(now, then))
        return store ? tr("It could be stored, but the plan would not change.")
                     : tr("Not storing it would not change the plan.");
    QStringList parts;
    const auto before = movedBytes(now), after = movedBytes(then);
    if (before && after) parts << bytesChange(*before, *after);
    parts << opsChange(recomputedOps(now), recomputedOps(then)) << memoryChange(now, then) << stagesChange(now, then);
    parts.removeAll(QString());
    const QString what = parts.isEmpty() ? tr("is possible") : parts.join(QStringLiteral(", "));
    return (store ? tr("Storing it %1.") : tr("Not storing it %1.")).arg(what);
}

std::optional<std::int64_t> movedBytes(const PlanRecord& plan)
{
    if (!plan.predicted) return std::nullopt;
    return plan.predicted->d2h + plan.predicted->h2d;
}

int recomputedOps(const PlanRecord& plan)
{
    std::size_t count = 0;
    if (plan.predicted)
        for (const protocol::PredictedStage& stage : plan.predicted->stages) count += stage.recomputed.size();
    return static_cast<int>(count);
}

}  // namespace hopscope::panels
