#include "pipeline/running/records.h"

#include <algorithm>
#include <iterator>

#include "analysis/naming/value_names.h"
#include "confine/confine.h"

namespace hopscope::pipeline {

namespace {

schema::OperatorTimeRecord toRecord(const executor::OperatorTime& time, const analysis::Analysis& analysis,
                                    const analysis::ValueNames& names)
{
    const ir::Op& op = analysis.program.op(time.op);
    schema::OperatorTimeRecord record;
    record.op = ir::opName(time.op);
    if (!op.outputs.empty()) record.label = names[op.outputs[0]];
    std::ranges::transform(time.fused, std::back_inserter(record.fused), ir::opName);
    record.seconds = time.seconds;
    record.bytes = time.bytes;
    return record;
}

schema::StageRecord toRecord(const executor::StageReport& stage, const analysis::Analysis& analysis,
                             const analysis::ValueNames& names)
{
    schema::StageRecord record{static_cast<const plan::StageFigures&>(stage)};
    record.index = stage.index;
    for (const executor::OperatorTime& time : stage.operators)
        if (time.op.valid()) record.operators.push_back(toRecord(time, analysis, names));
    return record;
}

// Only reads count: written rows need not be on the disk at the end of the stage.
void boundByDisk(schema::StageRecord& record, const executor::StageReport& stage, double diskRead)
{
    if (stage.windows == 0 || diskRead <= 0) return;
    const double seconds = static_cast<double>(stage.leastFileBytes) / diskRead;
    if (seconds <= record.boundSeconds.value_or(0)) return;
    record.boundSeconds = seconds;
    record.wall = plan::Wall::Disk;
}

void addForecast(std::vector<schema::StageRecord>& stages, const executor::RunReport& run,
                 const forecast::Forecast& forecast)
{
    for (std::size_t s = 0; s < std::min({stages.size(), forecast.times.size(), forecast.prediction.stages.size()});
         ++s) {
        const forecast::PredictedStage& predicted = forecast.prediction.stages[s];
        const forecast::StageTime& time = forecast.times[s];
        stages[s].predicted = predicted;
        stages[s].predicted->seconds = time.seconds;
        stages[s].boundSeconds = time.boundSeconds;
        stages[s].wall = time.wall;
        boundByDisk(stages[s], run.stages[s], forecast.diskRead);
    }
}

schema::ReassociatedRecord reassociatedOf(const analysis::Analysis& analysis)
{
    schema::ReassociatedRecord record;
    for (const analysis::Reassociation& r : analysis.reassociations)
        record.places.push_back({.place = r.place, .module = r.module, .in = r.in, .out = r.out});
    return record;
}

}  // namespace

schema::Report toReport(const Prepared& prepared, const plan::Plan& plan, const executor::RunReport& run,
                        const base::Settings& settings, const std::optional<forecast::Forecast>& forecast)
{
    schema::Report report;
    report.fuse = settings.fuse;
    report.reorder = settings.reorder;
    report.store = settings.store;
    report.model = prepared.model.info().path;
    report.modelClass = prepared.model.info().className;
    report.strategy = plan.strategy;
    report.device = plan.device;
    report.confinement = confine::state();
    report.hashes = prepared.hashes;
    const analysis::ValueNames names(prepared.analysis);
    std::ranges::transform(run.stages, std::back_inserter(report.stages),
                           [&](const auto& stage) { return toRecord(stage, prepared.analysis, names); });
    if (forecast) addForecast(report.stages, run, *forecast);
    for (const executor::OrderReport& o : run.orders)
        report.orders.push_back({.nodes = o.nodes,
                                 .order = o.used,
                                 .seconds = o.seconds,
                                 .alphaBefore = o.before,
                                 .alphaAfter = o.after,
                                 .reason = o.reason});
    for (const executor::StoreReport& s : run.narrowed)
        report.narrowed.push_back({.value = s.name,
                                   .from = s.from,
                                   .to = s.to,
                                   .maxAbsolute = s.maxAbsolute,
                                   .largest = s.largest,
                                   .infinite = s.infinite});
    if (prepared.reassociate) report.reassociated = reassociatedOf(prepared.analysis);
    if (run.resumed)
        report.resumed = {
            .chunks = run.resumed->chunks, .destinations = run.resumed->destinations, .damaged = run.resumed->damaged};
    report.prologueSeconds = run.prologueSeconds;
    report.seconds = run.seconds;
    report.peakMemory = run.peakMemory;
    report.notes = prepared.notes;
    report.notes.insert(report.notes.end(), run.notes.begin(), run.notes.end());
    return report;
}

}  // namespace hopscope::pipeline
