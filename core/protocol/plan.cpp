#include "protocol/plan.h"

#include <algorithm>

#include "schema/envelope.h"
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
        PlanRecord plan;
        const Reader document = root.child("plan");
        schema::checkEnvelope(document, "hopscope-plan");
        plan.strategy = json::named<base::Strategy>(document, "strategy");
        plan.device = document.get<std::string>("device");
        plan.batch = json::nullable<std::int64_t>(document, "batch");
        plan.objective = json::named<base::Objective>(document, "objective");
        plan.cost = json::nullable<double>(document, "cost");
        plan.lowerBound = json::nullable<double>(document, "lower_bound");
        plan.gap = json::nullable<double>(document, "gap");
        if (root.has("notes")) plan.notes = root.get<std::vector<std::string>>("notes");
        plan.prologue = ops(document.child("prologue"));
        for (const Reader& item : document.items("stages")) plan.stages.push_back(stage(item));
        for (const Reader& item : document.items("checkpoints")) plan.checkpoints.push_back(checkpoint(item));
        const Reader pins = document.child("pins");
        if (!pins.value().isNull())
            plan.pins = schema::readPins(pins, [this](const std::string& name) { return findValue(name); });
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

    [[nodiscard]] std::optional<ValueId> findValue(const std::string& name) const
    {
        const ValueId found = m_model.findValue(name);
        return found.valid() ? std::optional(found) : std::nullopt;
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

    void accesses(const Reader& list, std::vector<PlanAccess>& to) const
    {
        for (const Reader& item : list.items())
            to.push_back({value(item.child("value")), item.get<std::string>("class")});
    }

    void addLoop(const Reader& item, PlanStage& stage) const
    {
        PlanLoop loop;
        loop.destination = item.get<std::string>("destination");
        for (const Reader& source : item.items("frontier"))
            loop.frontier.push_back({source.get<std::string>("type"), source.get<std::string>("space"),
                                     source.get<std::string>("owner"), source.get<std::string>("key")});
        accesses(item.child("reads"), loop.reads);
        accesses(item.child("writes"), loop.writes);
        for (const Reader& step : item.items("reductions")) {
            loop.reductions.push_back(op(step.child("op")));
            stage.steps.push_back({loop.reductions.back(), step.get<std::string>("class"), loop.destination});
        }
        stage.reads.insert(stage.reads.end(), loop.reads.begin(), loop.reads.end());
        stage.writes.insert(stage.writes.end(), loop.writes.begin(), loop.writes.end());
        stage.loops.push_back(std::move(loop));
    }

    [[nodiscard]] PlanStage stage(const Reader& item) const
    {
        PlanStage stage;
        stage.index = schema::readStage(item.child("index"));
        for (const Reader& step : item.items("ops"))
            stage.steps.push_back({.op = op(step.child("op")),
                                   .rows = step.get<std::string>("class"),
                                   .loop = step.get<std::string>("loop")});
        for (const Reader& each : item.items("loops")) addLoop(each, stage);
        for (const OpId op : ops(item.child("rowless"))) stage.steps.push_back({.op = op, .rows = "ALL", .loop = {}});
        return stage;
    }

    [[nodiscard]] PlanCheckpoint checkpoint(const Reader& item) const
    {
        PlanCheckpoint c;
        c.value = value(item.child("value"));
        c.stage = schema::readStage(item.child("stage"));
        c.output = item.get<bool>("output");
        c.bytesWritten = json::nullable<std::int64_t>(item, "bytes_written");
        c.bytesRead = json::nullable<std::int64_t>(item, "bytes_read");
        return c;
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
