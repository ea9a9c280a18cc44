#include "study/tensors/tensor_text.h"

#include <QStringList>

#include "models/labels.h"
#include "models/tr.h"

namespace hopscope::study {

namespace {

QString count(std::int64_t number) { return models::formatCount(static_cast<double>(number)); }

QString number(const std::optional<double>& value)
{
    return value ? QString::number(*value, 'g', 6).replace(u'-', u'−') : QStringLiteral("–");
}

QString shapeText(const schema::TensorSummary& record)
{
    QStringList sizes;
    for (const std::int64_t size : record.shape) sizes << count(size);
    return sizes.isEmpty() ? tr("one number") : sizes.join(QStringLiteral(" × "));
}

int stageOf(const schema::TensorSummary& record) { return record.stage.value_or(protocol::StageId(1)).number; }

QString originText(const schema::TensorSummary& record)
{
    using enum schema::TensorOrigin;
    switch (record.from) {
    case Input: return tr("input");
    case Weight: return tr("weight");
    case Unsplit: return tr("computed on whole tensors");
    case Staged: break;
    }
    if (!record.batch) return tr("stage %1, all batches").arg(stageOf(record));
    const std::int64_t first = record.batch->firstDestination;
    return tr("stage %1, batch %2: destinations %3 to %4")
        .arg(stageOf(record))
        .arg(record.batch->number)
        .arg(first)
        .arg(first + record.batch->destinations - 1);
}

}  // namespace

QString tensorFacts(const schema::TensorSummary& record)
{
    QStringList parts{QString::fromStdString(record.dtype), shapeText(record)};
    if (!record.rows.empty()) parts << QString::fromStdString(record.rows);
    parts << originText(record);
    return parts.join(QStringLiteral(" · "));
}

QString tensorNumbers(const schema::Statistics& statistics)
{
    const QStringList parts{tr("min %1").arg(number(statistics.least)),
                            tr("max %1").arg(number(statistics.most)),
                            tr("mean %1").arg(number(statistics.mean)),
                            tr("std %1").arg(number(statistics.deviation)),
                            tr("%1 of %2 numbers are zero").arg(count(statistics.zeros), count(statistics.numbers)),
                            tr("%1 NaN").arg(count(statistics.nan)),
                            tr("%1 infinite").arg(count(statistics.infinite))};
    return parts.join(QStringLiteral(" · "));
}

}  // namespace hopscope::study
