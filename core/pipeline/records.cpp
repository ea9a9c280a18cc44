#include "pipeline/records.h"

#include <algorithm>

namespace hopscope::pipeline {

namespace {

std::vector<schema::TensorRecord> toRecords(const std::vector<verify::TensorError>& errors)
{
    std::vector<schema::TensorRecord> records;
    for (const verify::TensorError& e : errors)
        records.push_back({e.name, e.maxAbsolute, e.maxRelative, e.rows, e.different, e.notFinite});
    return records;
}

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

schema::Verification toRecord(const verify::Verdict& verdict)
{
    const verify::Coverage& c = verdict.coverage;
    schema::Verification record;
    record.verdict = verdict.verdict;
    record.reason = verdict.reason;
    record.coverage = {c.method, c.rows, c.chosen, c.skipped, c.withInEdges, c.hops};
    record.outputs = toRecords(verdict.outputs);
    record.checkpoints = toRecords(verdict.checkpoints);
    record.tolerance = {verdict.tolerance.absolute, verdict.tolerance.relative, verdict.tolerance.scale};
    record.seconds = verdict.seconds;
    return record;
}

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
