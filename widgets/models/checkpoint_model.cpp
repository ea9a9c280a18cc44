#include "models/checkpoint_model.h"

#include "models/labels.h"
#include "models/selection.h"

namespace hopscope::models {

namespace {

bool isPinned(const protocol::PlanRecord& plan, protocol::ValueId value)
{
    const plan::Pin store{.kind = base::PinKind::Checkpoint, .value = value};
    return std::ranges::find(plan.pins, store) != plan.pins.end();
}

CheckpointRow rowOf(const protocol::ModelRecord& model, protocol::ValueId value)
{
    const protocol::ValueRecord& record = model.values[value];
    CheckpointRow row;
    row.value = value;
    row.id = text(record.id);
    row.label = valueLabel(model, value);
    row.shape = shapeLabel(model, record);
    return row;
}

QString display(const CheckpointRow& row, CheckpointColumn column)
{
    using State = CheckpointRow::State;
    switch (column) {
    case CheckpointColumn::Value: return row.label;
    case CheckpointColumn::Stage: return row.stage.valid() ? QString::number(row.stage.number) : QStringLiteral("–");
    case CheckpointColumn::Written:
        return row.state == State::Forbidden ? QStringLiteral("–") : formatBytes(row.written);
    case CheckpointColumn::Read: return row.state == State::Stored ? formatBytes(row.read) : QStringLiteral("–");
    case CheckpointColumn::Pin: return row.pinned ? QStringLiteral("●") : QString();
    case CheckpointColumn::Count: break;
    }
    return {};
}

QVariant sortKey(const CheckpointRow& row, CheckpointColumn column)
{
    switch (column) {
    case CheckpointColumn::Stage: return row.stage.number;
    case CheckpointColumn::Written: return static_cast<qlonglong>(row.written.value_or(-1));
    case CheckpointColumn::Read: return static_cast<qlonglong>(row.read.value_or(-1));
    default: return display(row, column);
    }
}

}  // namespace

std::vector<CheckpointRow> checkpointRows(const protocol::ModelRecord& model, const protocol::PlanRecord& plan)
{
    std::vector<CheckpointRow> rows;
    for (const protocol::PlanCheckpoint& checkpoint : plan.checkpoints) {
        CheckpointRow row = rowOf(model, checkpoint.value);
        row.state = checkpoint.output ? CheckpointRow::State::Output : CheckpointRow::State::Stored;
        row.stage = checkpoint.stage;
        row.written = checkpoint.bytesWritten;
        row.read = checkpoint.bytesRead;
        row.pinned = isPinned(plan, row.value);
        rows.push_back(std::move(row));
    }
    for (const plan::Pin& pin : plan.pins) {
        if (pin.kind != base::PinKind::NoCheckpoint || !model.values.contains(pin.value)) continue;
        if (plan.checkpointOf(pin.value) != nullptr) continue;
        rows.push_back(rowOf(model, pin.value));
        rows.back().state = CheckpointRow::State::Forbidden;
        rows.back().pinned = true;
    }
    return rows;
}

QVariant CheckpointModel::cell(const CheckpointRow& row, CheckpointColumn column, int role) const
{
    switch (role) {
    case Qt::DisplayRole: return display(row, column);
    case Qt::ToolTipRole: return QStringLiteral("%1\n%2").arg(row.label, row.shape);
    case Qt::AccessibleTextRole:
        if (column == CheckpointColumn::Pin) return row.pinned ? tr("pinned") : tr("not pinned");
        return display(row, column);
    case SortRole: return sortKey(row, column);
    case TargetRole: return QVariant::fromValue(Target::value(row.value));
    case PinnedRole: return row.pinned;
    case MutedRole: return row.state != CheckpointRow::State::Stored;
    default: return {};
    }
}

QVariant CheckpointModel::header(CheckpointColumn column, int role) const
{
    if (role != Qt::DisplayRole) return {};
    switch (column) {
    case CheckpointColumn::Value: return tr("Stored value");
    case CheckpointColumn::Stage: return tr("Stage");
    case CheckpointColumn::Written: return tr("↓ Write");
    case CheckpointColumn::Read: return tr("↑ Read");
    case CheckpointColumn::Pin: return tr("Pin");
    case CheckpointColumn::Count: break;
    }
    return {};
}

bool CheckpointModel::isNumber(CheckpointColumn column) const
{
    return column == CheckpointColumn::Stage || column == CheckpointColumn::Written || column == CheckpointColumn::Read;
}

}  // namespace hopscope::models
