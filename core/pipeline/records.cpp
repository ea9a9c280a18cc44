#include "pipeline/records.h"

#include <algorithm>

namespace hopscope::pipeline {

namespace {

schema::StageRecord toRecord(const executor::StageReport& stage)
{
    const executor::PhaseSeconds& p = stage.phases;
    schema::StageRecord record;
    record.index = stage.index;
    record.seconds = stage.seconds;
    record.phases = {p.block, p.gather, p.h2d, p.compute, p.d2h, p.write};
    record.batches = stage.batches;
    record.smallestBatch = stage.smallestBatch;
    record.largestBatch = stage.largestBatch;
    record.destinations = stage.destinations;
    record.frontierRows = stage.frontierRows;
    record.backOffs = stage.backOffs;
    record.bytes = stage.bytes;
    record.peakMemory = stage.peakMemory;
    if (stage.reservedMemory > 0) record.reservedMemory = stage.reservedMemory;
    record.overlap = stage.overlap;
    return record;
}

}  // namespace

schema::Report toReport(const Prepared& prepared, const plan::Plan& plan, const executor::RunReport& run)
{
    schema::Report report;
    report.model = prepared.model.info().path;
    report.modelClass = prepared.model.info().className;
    report.strategy = plan.strategy;
    report.device = plan.device;
    report.hashes = prepared.hashes;
    std::ranges::transform(run.stages, std::back_inserter(report.stages),
                           [](const auto& stage) { return toRecord(stage); });
    report.prologueSeconds = run.prologueSeconds;
    report.seconds = run.seconds;
    report.peakMemory = run.peakMemory;
    report.notes = prepared.notes;
    report.notes.insert(report.notes.end(), run.notes.begin(), run.notes.end());
    return report;
}

}  // namespace hopscope::pipeline
