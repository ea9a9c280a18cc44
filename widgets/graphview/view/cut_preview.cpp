#include "graphview/view/cut_preview.h"

#include <QStringList>
#include <cmath>

#include "models/labels.h"
#include "models/tr.h"

namespace hopscope::graphview {

namespace {

using models::formatBytes;
using models::formatSecondsFinely;

// " (+1.1 MiB)"; empty if it is the same.
QString change(double difference, const QString& size)
{
    if (difference == 0) return {};
    return (difference > 0 ? QStringLiteral(" (+%1)") : QStringLiteral(" (\u2212%1)")).arg(size);
}

QString bytesWithChange(std::int64_t before, std::int64_t after)
{
    const auto difference = static_cast<double>(after - before);
    return formatBytes(static_cast<double>(after)) + change(difference, formatBytes(std::abs(difference)));
}

QString secondsWithChange(const std::optional<double>& before, double after)
{
    const double difference = before ? after - *before : 0;
    return formatSecondsFinely(after) + change(difference, formatSecondsFinely(std::abs(difference)));
}

QString stages(const protocol::PlanRecord& now, const protocol::PlanRecord& then)
{
    const QString count = tr("%1 stages").arg(then.stages.size());
    return then.stages.size() == now.stages.size() ? count : tr("%1 instead of %2").arg(count).arg(now.stages.size());
}

}  // namespace

QString previewText(const protocol::PlanRecord& now, const protocol::PlanRecord& then)
{
    if (!then.predicted || !now.predicted) return stages(now, then);
    const protocol::Prediction &before = *now.predicted, &after = *then.predicted;
    QStringList first;
    if (after.seconds) first << tr("About %1").arg(secondsWithChange(before.seconds, *after.seconds));
    first << tr("moves %1").arg(bytesWithChange(before.d2h + before.h2d, after.d2h + after.h2d));
    const QString peak = tr("peak memory %1").arg(bytesWithChange(before.peakMemory, after.peakMemory));
    return first.join(QStringLiteral(", ")) + u'\n' + peak + QStringLiteral(" \u00b7 ") + stages(now, then);
}

}  // namespace hopscope::graphview
