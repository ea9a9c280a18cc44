#include "models/front.h"

#include <algorithm>
#include <array>

#include "models/labels.h"

namespace hopscope::models {

namespace {

std::array<double, 2> amounts(const FrontPoint& point)
{
    const protocol::Prediction& predicted = *point.plan->predicted;
    return {predicted.seconds.value_or(0), static_cast<double>(predicted.peakMemory)};
}

bool beats(const FrontPoint& left, const FrontPoint& right)
{
    const auto a = amounts(left), b = amounts(right);
    return a != b && a[0] <= b[0] && a[1] <= b[1];
}

QString display(const FrontRow& row, FrontColumn column)
{
    const protocol::Prediction& predicted = *row.point.plan->predicted;
    switch (column) {
    case FrontColumn::Time: return formatSecondsFinely(predicted.seconds.value_or(0));
    case FrontColumn::Memory: return formatBytes(static_cast<double>(predicted.peakMemory));
    case FrontColumn::Host: return formatBytes(static_cast<double>(predicted.stores));
    case FrontColumn::Batch: return formatCount(static_cast<double>(predicted.batch));
    case FrontColumn::Stages: return QString::number(row.point.plan->stages.size());
    case FrontColumn::Proof: return proofLabel(*row.point.plan);
    case FrontColumn::Count: break;
    }
    return {};
}

}  // namespace

std::vector<FrontPoint> paretoFront(const std::vector<FrontPoint>& points)
{
    std::vector<FrontPoint> front;
    for (const FrontPoint& point : points) {
        const auto better = [&](const FrontPoint& other) { return beats(other, point); };
        const auto same = [&](const FrontPoint& other) { return amounts(other) == amounts(point); };
        if (std::ranges::none_of(points, better) && std::ranges::none_of(front, same)) front.push_back(point);
    }
    std::ranges::stable_sort(front, {}, [](const FrontPoint& point) { return point.plan->predicted->peakMemory; });
    return front;
}

bool isCurrent(const FrontPoint& point, const Document& document)
{
    const PlanPtr& plan = document.plan();
    return plan && plan->predicted && plan->predicted->batch == point.plan->predicted->batch &&
           protocol::sameCuts(*plan, *point.plan);
}

bool isProven(const protocol::PlanRecord& plan) { return plan.gap && *plan.gap < provenGap; }

QString planLabel(const protocol::PlanRecord& plan)
{
    const bool open = !base::isRule(plan.strategy) && !isProven(plan);
    return open ? FrontModel::tr("best found") : strategyLabel(plan.strategy);
}

QString proofLabel(const protocol::PlanRecord& plan)
{
    if (!plan.gap) return QStringLiteral("–");
    if (isProven(plan)) return FrontModel::tr("proven");
    return FrontModel::tr("within %1 %").arg(100 * *plan.gap, 0, 'f', 1);
}

std::vector<FrontRow> frontRows(const Document& document)
{
    std::vector<FrontRow> rows;
    const auto limit = document.settings().memory;
    for (const FrontPoint& point : paretoFront(document.front().points))
        rows.push_back(
            {.point = point,
             .current = isCurrent(point, document),
             .fits = !limit || (point.memory ? *point.memory : point.plan->predicted->peakMemory) <= *limit});
    return rows;
}

QVariant FrontModel::cell(const FrontRow& row, FrontColumn column, int role) const
{
    switch (role) {
    case Qt::DisplayRole:
    case Qt::AccessibleTextRole: return display(row, column);
    case Qt::ToolTipRole:
        return row.current ? tr("Current plan")
               : row.fits  ? tr("Click, or press Enter, to use it")
                           : tr("Above the memory limit");
    case MutedRole: return !row.fits;
    default: return {};
    }
}

QVariant FrontModel::header(FrontColumn column, int role) const
{
    const bool tip = role == Qt::ToolTipRole;
    if (role != Qt::DisplayRole && !tip) return {};
    switch (column) {
    case FrontColumn::Time: return tip ? tr("Predicted time of a run") : tr("Time");
    case FrontColumn::Memory: return tip ? tr("Predicted peak of the device's memory") : tr("Device");
    case FrontColumn::Host: return tip ? tr("Total size of the stored values") : tr("Host");
    case FrontColumn::Batch: return tip ? tr("Destinations per batch") : tr("Batch");
    case FrontColumn::Stages: return tr("Stages");
    case FrontColumn::Proof:
        return tip ? tr("How far the plan can be from the best one for this batch size") : tr("Proof");
    case FrontColumn::Count: break;
    }
    return {};
}

}  // namespace hopscope::models
