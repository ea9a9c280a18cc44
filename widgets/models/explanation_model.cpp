#include "models/explanation_model.h"

#include "models/labels.h"
#include "models/selection.h"

namespace hopscope::models {

namespace {

const QString none = QStringLiteral("–");

QString whatLabel(base::DecisionKind kind)
{
    switch (kind) {
    case base::DecisionKind::Stored: return DecisionModel::tr("stored");
    case base::DecisionKind::Recomputed: return DecisionModel::tr("recomputed");
    case base::DecisionKind::Delayed: break;
    }
    return DecisionModel::tr("delayed");
}

QString savesText(const DecisionRow& row)
{
    if (!row.decision.possible) return DecisionModel::tr("required");
    return row.decision.saves ? u'+' + formatCost(*row.decision.saves, row.unit) : none;
}

QString decisionTip(const DecisionRow& row)
{
    const schema::Decision& decision = row.decision;
    QStringList lines{
        (decision.stages.size() == 1 ? DecisionModel::tr("%1: %2, stage %3") : DecisionModel::tr("%1: %2, stages %3"))
            .arg(row.label, whatLabel(decision.kind), stageList(decision.stages)),
        DecisionModel::tr("write %1, read %2, compute %3")
            .arg(formatCost(decision.write, row.unit), formatCost(decision.read, row.unit),
                 formatCost(decision.compute, row.unit))};
    if (!decision.possible)
        lines << DecisionModel::tr("Every plan with this number of stages and these pins makes this decision.");
    if (decision.alternative)
        lines << DecisionModel::tr("The best plan found with the opposite decision costs %1.")
                     .arg(formatCost(*decision.alternative, row.unit));
    return lines.join(u'\n');
}

QString decisionText(const DecisionRow& row, DecisionColumn column)
{
    switch (column) {
    case DecisionColumn::Value: return row.label;
    case DecisionColumn::What: return whatLabel(row.decision.kind);
    case DecisionColumn::Costs: return formatCost(row.decision.cost(), row.unit);
    case DecisionColumn::Saves: return savesText(row);
    case DecisionColumn::Count: break;
    }
    return {};
}

QString bytesText(std::int64_t bytes) { return bytes == 0 ? none : formatBytes(static_cast<double>(bytes)); }

QString costText(double cost, base::Unit unit) { return cost == 0 ? none : formatCost(cost, unit); }

QString stagesText(const std::vector<protocol::StageId>& stages) { return stages.empty() ? none : stageList(stages); }

// The number of one plan: 0 for the plan, 1 for the rule.
QString differenceText(const DifferenceRow& row, DifferenceColumn column, std::size_t plan)
{
    const schema::ValueDifference& difference = row.difference;
    switch (column) {
    case DifferenceColumn::Cost: return costText(difference.cost[plan], row.unit);
    case DifferenceColumn::Written: return bytesText(difference.written[plan]);
    case DifferenceColumn::Read: return bytesText(difference.read[plan]);
    case DifferenceColumn::Stages: return stagesText(difference.stages[plan]);
    default: return {};
    }
}

QString differenceTip(const DifferenceRow& row)
{
    QStringList lines{row.label};
    for (const std::size_t plan : {0, 1})
        lines << DifferenceModel::tr("%1: cost %2, written %3, read %4, stages %5")
                     .arg(plan == 0 ? DifferenceModel::tr("this plan") : DifferenceModel::tr("the rule"),
                          differenceText(row, DifferenceColumn::Cost, plan),
                          differenceText(row, DifferenceColumn::Written, plan),
                          differenceText(row, DifferenceColumn::Read, plan),
                          differenceText(row, DifferenceColumn::Stages, plan));
    return lines.join(u'\n');
}

}  // namespace

QString formatCost(double cost, base::Unit unit)
{
    return unit == base::Unit::Bytes ? formatBytes(cost) : formatSecondsFinely(cost);
}

QString stageList(const std::vector<protocol::StageId>& stages)
{
    QStringList names;
    for (std::size_t begin = 0; begin < stages.size();) {
        std::size_t end = begin + 1;
        while (end < stages.size() && stages[end].number == stages[end - 1].number + 1) ++end;
        if (end - begin < 3) end = begin + 1;  // two in a row are as short without a range
        const QString first = QString::number(stages[begin].number);
        names << (end - begin == 1 ? first : first + QStringLiteral("–") + QString::number(stages[end - 1].number));
        begin = end;
    }
    return names.join(QStringLiteral(", "));
}

std::vector<DecisionRow> decisionRows(const protocol::ModelRecord& model, const schema::Explanation& explanation)
{
    std::vector<DecisionRow> rows;
    for (const schema::Decision& decision : explanation.decisions)
        rows.push_back({.decision = decision, .label = valueLabel(model, decision.value), .unit = explanation.unit});
    std::ranges::stable_sort(rows, [](const DecisionRow& left, const DecisionRow& right) {
        return left.decision.saves.value_or(-1) > right.decision.saves.value_or(-1);
    });
    return rows;
}

QVariant DecisionModel::cell(const DecisionRow& row, DecisionColumn column, int role) const
{
    switch (role) {
    case Qt::DisplayRole:
    case Qt::AccessibleTextRole: return decisionText(row, column);
    case Qt::ToolTipRole: return decisionTip(row);
    case TargetRole: return QVariant::fromValue(Target::value(row.decision.value));
    case MutedRole: return !row.decision.possible;
    default: return {};
    }
}

QVariant DecisionModel::header(DecisionColumn column, int role) const
{
    if (role != Qt::DisplayRole) return {};
    switch (column) {
    case DecisionColumn::Value: return tr("Value");
    case DecisionColumn::What: return tr("Decision");
    case DecisionColumn::Costs: return tr("Cost");
    case DecisionColumn::Saves: return tr("Otherwise");
    case DecisionColumn::Count: break;
    }
    return {};
}

bool DecisionModel::isNumber(DecisionColumn column) const
{
    return column == DecisionColumn::Costs || column == DecisionColumn::Saves;
}

std::vector<DifferenceRow> differenceRows(const protocol::ModelRecord& model, const schema::PlanComparison& comparison,
                                          base::Unit unit)
{
    std::vector<DifferenceRow> rows;
    for (const schema::ValueDifference& difference : comparison.values)
        rows.push_back({.difference = difference, .label = valueLabel(model, difference.value), .unit = unit});
    return rows;
}

QVariant DifferenceModel::cell(const DifferenceRow& row, DifferenceColumn column, int role) const
{
    switch (role) {
    case Qt::DisplayRole:
    case Qt::AccessibleTextRole:
        if (column == DifferenceColumn::Value) return row.label;
        return differenceText(row, column, 0) + u'\n' + differenceText(row, column, 1);
    case Qt::ToolTipRole: return differenceTip(row);
    case TargetRole: return QVariant::fromValue(Target::value(row.difference.value));
    default: return {};
    }
}

QVariant DifferenceModel::header(DifferenceColumn column, int role) const
{
    if (role != Qt::DisplayRole) return {};
    switch (column) {
    case DifferenceColumn::Value: return tr("Value");
    case DifferenceColumn::Cost: return tr("Cost");
    case DifferenceColumn::Written: return tr("↓ Write");
    case DifferenceColumn::Read: return tr("↑ Read");
    case DifferenceColumn::Stages: return tr("Stages");
    case DifferenceColumn::Count: break;
    }
    return {};
}

bool DifferenceModel::isNumber(DifferenceColumn column) const { return column != DifferenceColumn::Value; }

}  // namespace hopscope::models
