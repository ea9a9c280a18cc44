#include "models/stage_model.h"

#include <set>

#include "models/labels.h"
#include "models/run_log.h"
#include "models/selection.h"

namespace hopscope::models {

namespace {

int distinctOps(const protocol::PlanStage& stage)
{
    std::set<protocol::OpId> ops;
    for (const protocol::PlanStep& step : stage.steps) ops.insert(step.op);
    return static_cast<int>(ops.size());
}

int distinctValues(const std::vector<protocol::PlanAccess>& accesses)
{
    std::set<protocol::ValueId> values;
    for (const protocol::PlanAccess& access : accesses) values.insert(access.value);
    return static_cast<int>(values.size());
}

std::optional<double> measured(protocol::StageId stage, const RunLog* log, const schema::Report* report)
{
    if (log != nullptr)
        for (const StageProgress& progress : log->stages())
            if (progress.index == stage && progress.finished) return progress.seconds;
    const schema::StageRecord* const record = schema::stageOf(report, stage);
    return record != nullptr ? std::optional(record->seconds) : std::nullopt;
}

void predict(StageRow& row, const std::optional<protocol::Prediction>& prediction)
{
    if (!prediction) return;
    for (const protocol::PredictedStage& stage : prediction->stages) {
        if (stage.index != row.stage) continue;
        row.bytes = stage.written + stage.read;
        row.peak = stage.peakMemory;
        row.expected = stage.seconds;
        row.recomputed = static_cast<int>(stage.recomputed.size());
    }
}

QVariant number(const StageRow& row, StageColumn column)
{
    switch (column) {
    case StageColumn::Stage: return row.stage.number;
    case StageColumn::Reads: return row.reads;
    case StageColumn::Writes: return row.writes;
    case StageColumn::Ops: return row.ops;
    case StageColumn::Recomputed: return row.recomputed;
    case StageColumn::Bytes: return static_cast<qlonglong>(row.bytes.value_or(-1));
    case StageColumn::Peak: return static_cast<qlonglong>(row.peak.value_or(-1));
    case StageColumn::Expected: return row.expected.value_or(-1);
    case StageColumn::Seconds: return row.seconds.value_or(-1);
    case StageColumn::Count: break;
    }
    return {};
}

QString formatSeconds(const std::optional<double>& seconds)
{
    return seconds ? models::formatSeconds(*seconds) : QStringLiteral("–");
}

QString display(const StageRow& row, StageColumn column)
{
    switch (column) {
    case StageColumn::Bytes: return formatBytes(row.bytes);
    case StageColumn::Peak: return formatBytes(row.peak);
    case StageColumn::Expected: return formatSeconds(row.expected);
    case StageColumn::Seconds: return formatSeconds(row.seconds);
    default: return number(row, column).toString();
    }
}

}  // namespace

std::vector<StageRow> stageRows(const protocol::PlanRecord& plan, const RunLog* log, const schema::Report* report)
{
    std::vector<StageRow> rows;
    for (const protocol::PlanStage& stage : plan.stages) {
        StageRow row;
        row.stage = stage.index;
        row.reads = distinctValues(stage.reads);
        row.writes = distinctValues(stage.writes);
        row.ops = distinctOps(stage);
        predict(row, plan.predicted);
        row.seconds = measured(stage.index, log, report);
        rows.push_back(row);
    }
    return rows;
}

QVariant StageModel::cell(const StageRow& row, StageColumn column, int role) const
{
    switch (role) {
    case Qt::DisplayRole: return display(row, column);
    case Qt::ToolTipRole: return header(column, Qt::ToolTipRole);
    case SortRole: return number(row, column);
    case TargetRole: return QVariant::fromValue(Target::stage(row.stage));
    default: return {};
    }
}

QVariant StageModel::header(StageColumn column, int role) const
{
    const bool tip = role == Qt::ToolTipRole;
    if (role != Qt::DisplayRole && !tip) return {};
    switch (column) {
    case StageColumn::Stage: return tip ? tr("Number of the stage") : tr("Stage");
    case StageColumn::Reads: return tip ? tr("Values read from stores and inputs") : tr("In");
    case StageColumn::Writes: return tip ? tr("Values written to stores") : tr("Out");
    case StageColumn::Ops: return tip ? tr("Operators computed") : tr("Ops");
    case StageColumn::Recomputed:
        return tip ? tr("Operators that an earlier stage has also computed") : tr("Recomputed");
    case StageColumn::Bytes: return tip ? tr("Bytes written and read, predicted") : tr("Moves");
    case StageColumn::Peak: return tip ? tr("Peak memory, predicted") : tr("Peak");
    case StageColumn::Expected: return tip ? tr("Time, predicted") : tr("Predicted");
    case StageColumn::Seconds: return tip ? tr("Time, measured") : tr("Measured");
    case StageColumn::Count: break;
    }
    return {};
}

}  // namespace hopscope::models
