#include "models/pin_model.h"

#include "models/pins.h"
#include "models/selection.h"

namespace hopscope::models {

std::vector<PinRow> pinRows(const protocol::ModelRecord& model, const std::vector<plan::Pin>& pins)
{
    std::vector<PinRow> rows;
    for (const plan::Pin& pin : pins) {
        const protocol::ValueId shown = pin.kind == base::PinKind::Cut ? pin.consumer : pin.value;
        rows.push_back({.pin = pin, .value = shown, .label = pinLabel(model, pin)});
    }
    return rows;
}

QVariant PinModel::cell(const PinRow& row, PinColumn column, int role) const
{
    const bool remove = column == PinColumn::Remove;
    switch (role) {
    case Qt::DisplayRole: return remove ? QStringLiteral("\u00d7") : row.label;
    case Qt::ToolTipRole:
    case Qt::AccessibleTextRole: return remove ? tr("Remove this pin") : row.label;
    case TargetRole: return QVariant::fromValue(Target::value(row.value));
    case PinnedRole: return true;
    default: return {};
    }
}

QVariant PinModel::header(PinColumn column, int role) const
{
    return role == Qt::DisplayRole && column == PinColumn::What ? tr("Pins") : QVariant();
}

}  // namespace hopscope::models
