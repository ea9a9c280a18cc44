#include "protocol/plan.h"

#include <algorithm>

namespace hopscope::protocol {

namespace {

using json::Reader;

class PlanReader {
public:
    explicit PlanReader(const ModelRecord& model) : m_model(model) {}

    PlanRecord read(const Reader& root) const
    {
        const Reader document = root.child("plan");
        PlanRecord plan = known(document);
        if (root.has("notes")) plan.notes = root.get<std::vector<std::string>>("notes");
        plan.document = document.value();
        const Reader predicted = root.child("predicted");
        if (root.ok() && !predicted.value().isNull())
            plan.predicted = schema::readPrediction(predicted, modelNames(m_model));
        return plan;
    }

private:
    // The record is empty where the model lacks a name of the document.
    [[nodiscard]] PlanRecord known(const Reader& root) const
    {
        const schema::PlanDocument document = schema::readPlanDocument(root);
        schema::checkNames(document, root, modelNames(m_model));
        if (!root.ok()) return {};
        const plan::Plan& made = document.plan;
        PlanRecord plan;
        plan.strategy = made.strategy;
        plan.device = made.device;
        plan.objective = made.objective;
        plan.cost = made.cost;
        plan.lowerBound = made.lowerBound;
        plan.gap = made.gap;
        plan.batch = made.batch;
        plan.prologue = records(made.prologue);
        plan.pins = made.pins;
        for (const schema::PlannedStage& each : document.stages) plan.stages.push_back(stage(each));
        for (const schema::PlannedCheckpoint& each : document.checkpoints) plan.checkpoints.push_back(each.stored);
        return plan;
    }

    [[nodiscard]] std::vector<OpId> records(const std::vector<ir::OpId>& ops) const
    {
        std::vector<OpId> found;
        for (const ir::OpId op : ops) found.push_back(m_model.findOp(op));
        return found;
    }

    void addLoop(const schema::PlannedLoop& from, PlanStage& stage) const
    {
        PlanLoop loop{.destination = from.destination.text,
                      .frontier = from.frontier,
                      .reads = from.reads,
                      .writes = from.writes,
                      .reductions = {}};
        for (const schema::PlannedStep& step : from.reductions) {
            loop.reductions.push_back(m_model.findOp(step.op));
            stage.steps.push_back({loop.reductions.back(), step.rows.text, loop.destination});
        }
        stage.reads.insert(stage.reads.end(), loop.reads.begin(), loop.reads.end());
        stage.writes.insert(stage.writes.end(), loop.writes.begin(), loop.writes.end());
        stage.loops.push_back(std::move(loop));
    }

    [[nodiscard]] PlanStage stage(const schema::PlannedStage& from) const
    {
        PlanStage stage{.index = from.index, .steps = {}, .reads = {}, .writes = {}};
        for (const schema::PlannedOp& each : from.ops)
            stage.steps.push_back({m_model.findOp(each.step.op), each.step.rows.text, each.loop.text});
        for (const schema::PlannedLoop& each : from.loops) addLoop(each, stage);
        for (const OpId op : records(from.rowless)) stage.steps.push_back({.op = op, .rows = "ALL", .loop = {}});
        return stage;
    }

    const ModelRecord& m_model;
};

}  // namespace

void PlanRecord::indexStages()
{
    stagesByOp.clear();
    for (const PlanStage& stage : stages) {
        for (const PlanStep& step : stage.steps) {
            std::vector<StageId>& known = stagesByOp[step.op];
            if (known.empty() || known.back() != stage.index) known.push_back(stage.index);
        }
    }
}

std::vector<StageId> PlanRecord::stagesOf(OpId op) const
{
    const auto it = stagesByOp.find(op);
    return it == stagesByOp.end() ? std::vector<StageId>{} : it->second;
}

const PlanCheckpoint* PlanRecord::checkpointOf(ValueId value) const
{
    const auto it = std::ranges::find(checkpoints, value, &PlanCheckpoint::value);
    return it == checkpoints.end() ? nullptr : &*it;
}

bool sameCuts(const PlanRecord& left, const PlanRecord& right)
{
    return left.stages == right.stages && left.checkpoints == right.checkpoints && left.prologue == right.prologue &&
           left.pins == right.pins;
}

base::Result<PlanRecord> readPlanResult(const json::Value& result, const ModelRecord& model)
{
    const Reader root(result, "plan result");
    PlanRecord plan = PlanReader(model).read(root);
    if (!root.ok()) return base::forward(root.status());
    plan.indexStages();
    return plan;
}

bool fits(const plan::Pin& pin, const ModelRecord& model)
{
    return model.values.contains(pin.value) && (pin.kind != base::PinKind::Cut || model.values.contains(pin.consumer));
}

}  // namespace hopscope::protocol
