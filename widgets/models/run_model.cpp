#include "models/run_model.h"

#include "models/labels.h"

namespace hopscope::models {

namespace {

RunRow rowOf(const FinishedRun& run)
{
    RunRow row;
    row.title = run.title;
    if (!run.report) return row;
    const schema::Report& report = *run.report;
    row.device = text(report.device);
    row.strategy = QLatin1String(base::nameOf(report.strategy));
    row.stages = static_cast<int>(report.stages.size());
    row.seconds = report.seconds;
    row.peakMemory = report.peakMemory;
    for (const schema::StageRecord& stage : report.stages) row.moved += stage.bytes.d2h + stage.bytes.h2d;
    if (report.verify) row.verdict = report.verify->verdict;
    return row;
}

QString display(const RunRow& row, RunColumn column)
{
    switch (column) {
    case RunColumn::Title: return row.title;
    case RunColumn::Device: return row.device;
    case RunColumn::Strategy: return row.strategy;
    case RunColumn::Stages: return QString::number(row.stages);
    case RunColumn::Seconds: return formatSeconds(row.seconds);
    case RunColumn::Moved: return formatBytes(static_cast<double>(row.moved));
    case RunColumn::Peak: return formatBytes(static_cast<double>(row.peakMemory));
    case RunColumn::Verdict:
        return row.verdict ? QString::fromLatin1(base::nameOf(*row.verdict)) : RunModel::tr("not verified");
    case RunColumn::Count: break;
    }
    return {};
}

QVariant sortKey(const RunRow& row, RunColumn column)
{
    switch (column) {
    case RunColumn::Stages: return row.stages;
    case RunColumn::Seconds: return row.seconds;
    case RunColumn::Moved: return static_cast<qlonglong>(row.moved);
    case RunColumn::Peak: return static_cast<qlonglong>(row.peakMemory);
    default: return display(row, column);
    }
}

}  // namespace

QString runTitleBegin() { return RunModel::tr("run "); }

QString runTitle(int number, const schema::Report& report)
{
    std::int64_t batch = 0;
    for (const schema::StageRecord& stage : report.stages) batch = std::max(batch, stage.largestBatch);
    return runTitleBegin() +
           RunModel::tr("%1: %2, batch %3")
               .arg(number)
               .arg(QLatin1String(base::nameOf(report.strategy)), formatCount(static_cast<double>(batch)));
}

std::vector<RunRow> runRows(const std::vector<FinishedRun>& runs)
{
    std::vector<RunRow> rows;
    for (const FinishedRun& run : runs) rows.push_back(rowOf(run));
    return rows;
}

QVariant RunModel::cell(const RunRow& row, RunColumn column, int role) const
{
    if (role == Qt::DisplayRole) return display(row, column);
    if (role == SortRole) return sortKey(row, column);
    if (role == Qt::ToolTipRole)
        return tr("%1 on %2, strategy %3, stages: %4").arg(row.title, row.device, row.strategy).arg(row.stages);
    return {};
}

QVariant RunModel::header(RunColumn column, int role) const
{
    if (role != Qt::DisplayRole) return {};
    switch (column) {
    case RunColumn::Title: return tr("Run");
    case RunColumn::Device: return tr("Device");
    case RunColumn::Strategy: return tr("Strategy");
    case RunColumn::Stages: return tr("Stages");
    case RunColumn::Seconds: return tr("Time");
    case RunColumn::Moved: return tr("Moved");
    case RunColumn::Peak: return tr("Peak");
    case RunColumn::Verdict: return tr("Verdict");
    case RunColumn::Count: break;
    }
    return {};
}

bool RunModel::isNumber(RunColumn column) const { return column >= RunColumn::Stages && column <= RunColumn::Peak; }

}  // namespace hopscope::models
