#include "protocol/plan.h"

#include <algorithm>

#include "schema/pins.h"
#include "schema/stages.h"
#include "json/names.h"
#include "json/optional.h"

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
        if (root.ok() && !predicted.value().isNull()) plan.predicted = prediction(predicted);
        return plan;
    }

private:
    [[nodiscard]] OpId op(const Reader& reader) const
    {
        const OpId found = m_model.findOp(reader.as<std::string>());
        if (!found.valid()) reader.refuse("is not an operator of this model");
        return found;
    }

    [[nodiscard]] ValueId value(const Reader& reader) const
    {
        const ValueId found = m_model.findValue(reader.as<std::string>());
        if (!found.valid()) reader.refuse("is not a value of this model");
        return found;
    }

    [[nodiscard]] std::vector<OpId> ops(const Reader& list) const
    {
        std::vector<OpId> found;
        for (const Reader& item : list.items()) found.push_back(op(item));
        return found;
    }

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

    [[nodiscard]] Prediction prediction(const Reader& item) const
    {
        Prediction p;
        p.batch = item.get<std::int64_t>("batch");
        p.batches = item.get<std::int64_t>("batches");
        p.stores = item.get<std::int64_t>("stores");
        p.d2h = item.get<std::int64_t>("d2h");
        p.h2d = item.get<std::int64_t>("h2d");
        p.structure = item.get<std::int64_t>("structure");
        p.peakMemory = item.get<std::int64_t>("peak_memory");
        p.seconds = item.maybe<double>("seconds");
        for (const Reader& stage : item.items("stages")) p.stages.push_back(predictedStage(stage));
        return p;
    }

    [[nodiscard]] PredictedStage predictedStage(const Reader& item) const
    {
        PredictedStage s;
        s.index = schema::readStage(item.child("index"));
        s.written = item.get<std::int64_t>("written");
        s.read = item.get<std::int64_t>("read");
        s.structure = item.get<std::int64_t>("structure");
        s.frontierRows = item.get<std::int64_t>("frontier_rows");
        s.destinations = item.get<std::int64_t>("destinations");
        s.peakMemory = item.get<std::int64_t>("peak_memory");
        s.seconds = item.maybe<double>("seconds");
        if (item.has("reads"))
            for (const Reader& read : item.items("reads"))
                s.reads[value(read.child("value"))] += read.get<std::int64_t>("bytes");
        if (item.has("operators"))
            for (const Reader& each : item.items("operators"))
                s.operators[op(each.child("op"))] += each.get<double>("seconds");
        s.recomputed = ops(item.child("recomputed"));
        return s;
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

base::Result<std::vector<RepairRecord>> readRepairs(const json::Value& result)
{
    const Reader root(result, "repairs");
    std::vector<RepairRecord> found;
    for (const Reader& item : root.items("repairs")) {
        RepairRecord repair;
        repair.cost = item.maybe<double>("cost").value_or(0);
        if (item.has("drop")) repair.drop = schema::readPin(item.child("drop"), schema::valueNamed);
        else repair.stages = item.get<int>("stages");
        found.push_back(repair);
    }
    if (!root.ok()) return base::forward(root.status());
    std::ranges::stable_sort(found, {}, &RepairRecord::cost);
    return found;
}

}  // namespace hopscope::protocol
