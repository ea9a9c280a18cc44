#include "pipeline/prediction.h"

#include <algorithm>
#include <set>

namespace hopscope::pipeline {

namespace {

using json::Value;

plan::Bytes total(const forecast::Prediction& prediction)
{
    plan::Bytes sum;
    for (const forecast::PredictedStage& stage : prediction.stages) sum += stage.bytes;
    return sum;
}

std::set<ir::OpId> operatorsOf(const plan::Stage& stage)
{
    std::set<ir::OpId> ops(stage.rowless.begin(), stage.rowless.end());
    for (const plan::Loop& loop : stage.loops) {
        for (const plan::Step& step : loop.steps) ops.insert(step.op);
        for (const plan::Step& step : loop.reductions) ops.insert(step.op);
    }
    return ops;
}

// Operators of each stage that an earlier one has computed, on the same or on other rows.
std::vector<Value> recomputed(const plan::Plan& plan)
{
    std::vector<Value> lists;
    std::set<ir::OpId> known;
    for (const plan::Stage& stage : plan.stages) {
        Value list = Value::array();
        for (const ir::OpId op : operatorsOf(stage))
            if (!known.insert(op).second) list.push(ir::opName(op));
        lists.push_back(std::move(list));
    }
    return lists;
}

Value readsOf(const forecast::PredictedStage& stage)
{
    Value reads = Value::array();
    for (const auto& [value, bytes] : stage.read) {
        Value item;
        item["value"] = ir::valueName(value);
        item["bytes"] = bytes;
        reads.push(std::move(item));
    }
    return reads;
}

Value operatorsValue(const forecast::StageTime& time)
{
    Value operators = Value::array();
    for (const auto& [op, seconds] : time.operators) {
        Value item;
        item["op"] = ir::opName(op);
        item["seconds"] = seconds;
        operators.push(std::move(item));
    }
    return operators;
}

Value stageValue(const forecast::PredictedStage& stage, const forecast::StageTime& time, Value recomputedOps)
{
    Value item;
    item["index"] = stage.index.number;
    item["written"] = stage.bytes.d2h;
    item["read"] = stage.bytes.h2d;
    item["reads"] = readsOf(stage);
    item["structure"] = stage.bytes.structure;
    item["frontier_rows"] = stage.frontierRows;
    item["destinations"] = stage.destinations;
    item["peak_memory"] = stage.peakMemory;
    item["seconds"] = time.seconds;
    item["operators"] = operatorsValue(time);
    item["recomputed"] = std::move(recomputedOps);
    return item;
}

std::int64_t storedBytes(const plan::Plan& plan)
{
    std::int64_t bytes = 0;
    for (const plan::Checkpoint& checkpoint : plan.checkpoints) bytes += checkpoint.bytesWritten.value_or(0);
    return bytes;
}

}  // namespace

std::int64_t peakOf(const forecast::Prediction& prediction)
{
    std::int64_t most = 0;
    for (const forecast::PredictedStage& stage : prediction.stages) most = std::max(most, stage.peakMemory);
    return most;
}

void fillPlan(plan::Plan& plan, const forecast::Prediction& prediction)
{
    plan.bytes = total(prediction);
    plan.peakMemory = peakOf(prediction);
    for (plan::Checkpoint& checkpoint : plan.checkpoints) {
        // Missing for tables whose size depends on more than the graph, such as edges that the model selects.
        if (const auto it = prediction.stored.find(checkpoint.value); it != prediction.stored.end())
            checkpoint.bytesWritten = it->second;
        checkpoint.bytesRead = 0;
        for (const forecast::PredictedStage& stage : prediction.stages)
            if (const auto it = stage.read.find(checkpoint.value); it != stage.read.end())
                *checkpoint.bytesRead += it->second;
    }
}

Value predictionValue(const plan::Plan& plan, const forecast::Forecast& forecast)
{
    const forecast::Prediction& prediction = forecast.prediction;
    const plan::Bytes bytes = total(prediction);
    const std::vector<Value> again = recomputed(plan);
    Value value;
    std::int64_t batches = 0;
    value["stages"] = Value::array();
    for (std::size_t i = 0; i < prediction.stages.size(); ++i) {
        batches += prediction.stages[i].batches;
        value["stages"].push(stageValue(prediction.stages[i], forecast.times.at(i), again.at(i)));
    }
    value["seconds"] = forecast.seconds();
    value["batch"] = prediction.batch;
    value["batches"] = batches;
    value["stores"] = storedBytes(plan);
    value["d2h"] = bytes.d2h;
    value["h2d"] = bytes.h2d;
    value["structure"] = bytes.structure;
    value["peak_memory"] = peakOf(prediction);
    return value;
}

}  // namespace hopscope::pipeline
