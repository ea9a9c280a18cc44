#include "panels/verdict_card.h"

#include "models/labels.h"
#include "panels/column_fold.h"
#include "panels/parts.h"

namespace hopscope::panels {

namespace {

constexpr int shownRows = 3;  // of the table, even in a small window

using models::formatCount;
using models::text;

QString number(double value) { return value == 0 ? QStringLiteral("0") : QString::number(value, 'g', 2); }

double largestDifference(const schema::Verification& verification)
{
    double largest = 0;
    for (const schema::TensorRecord& output : verification.outputs) largest = std::max(largest, output.maxAbsolute);
    return largest;
}

QString coverage(const schema::CoverageRecord& record)
{
    return VerdictCard::tr("%1 of %2 rows")
        .arg(formatCount(static_cast<double>(record.chosen - record.skipped)),
             formatCount(static_cast<double>(record.rows)));
}

std::int64_t differing(const schema::Verification& verification)
{
    std::int64_t elements = 0;
    for (const schema::TensorRecord& output : verification.outputs) elements += output.different;
    return elements;
}

QString differenceText(std::int64_t elements)
{
    return (elements == 1 ? VerdictCard::tr("Different: %1 element outside the tolerance")
                          : VerdictCard::tr("Different: %1 elements outside the tolerance"))
        .arg(formatCount(static_cast<double>(elements)));
}

// A verification counts compared numbers only.
std::int64_t notFiniteIn(const schema::Report& report)
{
    const std::int64_t compared = report.verify ? report.verify->notFinite() : 0;
    return report.notFinite ? std::max(report.notFinite->numbers(), compared) : compared;
}

ShownVerdict notVerified(const schema::Report& report, std::int64_t lost)
{
    const QString why = VerdictCard::tr("This run was started without verification.");
    if (lost == 0) return {.kind = std::nullopt, .headline = VerdictCard::tr("Not verified"), .detail = why};
    return {.kind = std::nullopt,
            .headline = (lost == 1 ? VerdictCard::tr("Not verified, and %1 result is NaN or infinite")
                                   : VerdictCard::tr("Not verified, and %1 results are NaN or infinite"))
                            .arg(formatCount(static_cast<double>(lost))),
            .detail = text(schema::notFiniteBesideVerdict(report)) + QStringLiteral(" · ") + why,
            .finite = false};
}

QString detailOf(const schema::Verification& verification, const QString& before)
{
    QStringList parts;
    if (!before.isEmpty()) parts << before;
    if (!verification.reason.empty()) parts << text(verification.reason);
    // The line may break before the tolerance and after it, but not within it.
    parts << VerdictCard::tr("tolerance %1\u00a0+\u00a0%2\u00a0×\u00a0|\u2060value|")
                 .arg(number(verification.tolerance.absolute), number(verification.tolerance.relative));
    if (verification.seconds > 0)
        parts << VerdictCard::tr("compared in %1").arg(models::formatSeconds(verification.seconds));
    return parts.join(QStringLiteral(" · "));
}

// Reports identify stored values by ids; the model knows their names.
QString nameOf(const schema::TensorRecord& record, const protocol::ModelRecord* model)
{
    const protocol::ValueId value = model != nullptr ? model->findValue(record.name) : protocol::ValueId();
    return value.valid() ? models::valueLabel(*model, value) : text(record.name);
}

std::vector<DifferenceRow> rowsOf(const schema::Verification& verification, const protocol::ModelRecord* model)
{
    std::vector<DifferenceRow> rows;
    const auto add = [&](const schema::TensorRecord& record, bool checkpoint) {
        rows.push_back({.name = checkpoint ? nameOf(record, model) : text(record.name),
                        .checkpoint = checkpoint,
                        .rows = record.rows,
                        .different = record.different,
                        .notFinite = record.notFinite,
                        .absolute = record.maxAbsolute,
                        .relative = record.maxRelative});
    };
    for (const schema::TensorRecord& record : verification.outputs) add(record, false);
    for (const schema::TensorRecord& record : verification.checkpoints) add(record, true);
    return rows;
}

}  // namespace

ShownVerdict verdictOf(const schema::Report& report)
{
    const std::int64_t lost = notFiniteIn(report);
    if (!report.verify) return notVerified(report, lost);
    const schema::Verification& found = *report.verify;
    const QString largest = VerdictCard::tr("largest difference %1").arg(number(largestDifference(found)));
    ShownVerdict shown{.kind = found.verdict,
                       .headline = VerdictCard::tr("Unverifiable"),
                       .detail = detailOf(found, text(schema::notFiniteBesideVerdict(report))),
                       .finite = lost == 0};
    if (found.verdict == schema::Verdict::Equal)
        shown.headline = VerdictCard::tr("Equal: %1, %2").arg(coverage(found.coverage), largest);
    if (found.verdict == schema::Verdict::Equal && lost > 0)
        shown.headline = (lost == 1 ? VerdictCard::tr("Equal, but %1 result is NaN or infinite: %2, %3")
                                    : VerdictCard::tr("Equal, but %1 results are NaN or infinite: %2, %3"))
                             .arg(formatCount(static_cast<double>(lost)), coverage(found.coverage), largest);
    if (found.verdict == schema::Verdict::Different)
        shown.headline = VerdictCard::tr("%1, %2").arg(differenceText(differing(found)), largest);
    return shown;
}

QString toneOf(const ShownVerdict& verdict)
{
    if (!verdict.kind && verdict.finite) return {};
    if (verdict.kind == schema::Verdict::Different) return QStringLiteral("bad");
    return verdict.good() ? QStringLiteral("good") : QStringLiteral("warning");
}

QColor colourOf(const ShownVerdict& verdict, const style::Theme& theme)
{
    const QString tone = toneOf(verdict);
    return tone.isEmpty() ? theme.text : tone == u"bad" ? theme.bad : tone == u"good" ? theme.good : theme.warning;
}

QVariant DifferenceModel::cell(const DifferenceRow& row, DifferenceColumn column, int role) const
{
    if (role == models::MutedRole) return row.checkpoint;
    if (role == Qt::ToolTipRole && row.checkpoint) return tr("stored value %1").arg(row.name);
    if (role != Qt::DisplayRole) return {};
    switch (column) {
    case DifferenceColumn::Name: return row.checkpoint ? tr("%1 (stored)").arg(row.name) : row.name;
    case DifferenceColumn::Rows: return formatCount(static_cast<double>(row.rows));
    case DifferenceColumn::Different: return formatCount(static_cast<double>(row.different));
    case DifferenceColumn::Absolute: return number(row.absolute);
    case DifferenceColumn::Relative: return number(row.relative);
    case DifferenceColumn::NotFinite: return formatCount(static_cast<double>(row.notFinite));
    case DifferenceColumn::Count: break;
    }
    return {};
}

QVariant DifferenceModel::header(DifferenceColumn column, int role) const
{
    if (role != Qt::DisplayRole) return {};
    switch (column) {
    case DifferenceColumn::Name: return tr("Value");
    case DifferenceColumn::Rows: return tr("Rows");
    case DifferenceColumn::Different: return tr("Different");
    case DifferenceColumn::Absolute: return tr("Absolute");
    case DifferenceColumn::Relative: return tr("Relative");
    case DifferenceColumn::NotFinite: return tr("Not finite");
    case DifferenceColumn::Count: break;
    }
    return {};
}

VerdictCard::VerdictCard(QWidget* parent) : QFrame(parent)
{
    setObjectName(QStringLiteral("verdict"));
    m_headline = wrapped(QStringLiteral("verdictHeadline"), this);
    QFont bold = m_headline->font();
    bold.setBold(true);
    m_headline->setFont(bold);
    m_detail = wrapped(QStringLiteral("verdictDetail"), this);
    m_detail->setProperty("muted", true);
    m_table = makeTable(QStringLiteral("differences"), &m_model, this);
    m_table->setAccessibleName(tr("Differences from the unsplit model"));
    fitColumns(*m_table);
    using Column = DifferenceColumn;
    new ColumnFold(*m_table, {static_cast<int>(Column::Relative), static_cast<int>(Column::NotFinite),
                              static_cast<int>(Column::Rows), static_cast<int>(Column::Different)});
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(10, 8, 10, 8);
    layout->addWidget(m_headline);
    layout->addWidget(m_detail);
    layout->addWidget(m_table, 1);
    setRun(nullptr);
}

void VerdictCard::setRun(const models::FinishedRun* run, const protocol::ModelRecord* model)
{
    const schema::Report* const report = run != nullptr ? run->report.get() : nullptr;
    const auto hashOf = [](const auto& hashes) {
        const auto it = hashes.find("model");
        return it == hashes.end() ? std::string() : it->second;
    };
    if (report != nullptr && model != nullptr && hashOf(report->hashes) != hashOf(model->hashes)) model = nullptr;
    m_verdict =
        report != nullptr
            ? verdictOf(*report)
            : ShownVerdict{
                  .kind = std::nullopt,
                  .headline = tr("No run yet"),
                  .detail = tr("After a run, its results are compared with the unsplit model, unless Verify is none.")};
    m_headline->setText(m_verdict.headline);
    m_detail->setText(report != nullptr ? tr("%1 · %2").arg(run->title, m_verdict.detail) : m_verdict.detail);
    m_model.setRows(report != nullptr && report->verify ? rowsOf(*report->verify, model)
                                                        : std::vector<DifferenceRow>());
    m_table->setVisible(m_model.rowCount() > 0);
    const int rows = std::min(m_model.rowCount(), shownRows) * m_table->verticalHeader()->defaultSectionSize();
    m_table->setMinimumHeight(m_table->horizontalHeader()->sizeHint().height() + rows + 4);
    colour();
}

void VerdictCard::setTheme(const style::Theme& theme)
{
    m_theme = theme;
    colour();
}

void VerdictCard::colour()
{
    QPalette palette = m_headline->palette();
    palette.setColor(QPalette::WindowText, colourOf(m_verdict, m_theme));
    m_headline->setPalette(palette);
}

}  // namespace hopscope::panels
