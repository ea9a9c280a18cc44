#include "pipeline/planning/prediction.h"

#include <algorithm>
#include <set>

namespace hopscope::pipeline {

namespace {

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

schema::PredictedStage stageOf(const forecast::PredictedStage& stage, const forecast::StageTime& time)
{
    schema::PredictedStage predicted{.index = stage.index,
                                     .written = stage.bytes.d2h,
                                     .read = stage.bytes.h2d,
                                     .structure = stage.bytes.structure,
                                     .frontierRows = stage.frontierRows,
                                     .destinations = stage.destinations,
                                     .peakMemory = stage.peakMemory,
                                     .seconds = time.seconds};
    for (const auto& [value, bytes] : stage.read) predicted.reads.push_back({value, bytes});
    for (const auto& [op, seconds] : time.operators) predicted.operators.push_back({op, seconds});
    return predicted;
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

schema::Prediction predictionOf(const plan::Plan& plan, const forecast::Forecast& forecast)
{
    const forecast::Prediction& prediction = forecast.prediction;
    const plan::Bytes bytes = total(prediction);
    schema::Prediction made{.batch = prediction.batch,
                            .stores = storedBytes(plan),
                            .d2h = bytes.d2h,
                            .h2d = bytes.h2d,
                            .structure = bytes.structure,
                            .peakMemory = peakOf(prediction),
                            .seconds = forecast.seconds()};
    std::set<ir::OpId> known;
    for (std::size_t i = 0; i < prediction.stages.size(); ++i) {
        made.batches += prediction.stages[i].batches;
        made.stages.push_back(stageOf(prediction.stages[i], forecast.times.at(i)));
        for (const ir::OpId op : operatorsOf(plan.stages.at(i)))
            if (!known.insert(op).second) made.stages.back().recomputed.push_back(op);
    }
    return made;
}

}  // namespace hopscope::pipeline
