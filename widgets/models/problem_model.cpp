#include "models/problem_model.h"

#include "models/labels.h"
#include "models/selection.h"

namespace hopscope::models {

namespace {

using Severity = ProblemRow::Severity;

QString placeOf(const protocol::OpRecord& op)
{
    QStringList parts{pathLabel(op)};
    if (!op.source.file.empty()) parts << QStringLiteral("%1:%2").arg(text(op.source.file)).arg(op.source.line);
    return parts.join(QStringLiteral(" · "));
}

QString severityName(Severity severity)
{
    switch (severity) {
    case Severity::Error: return ProblemModel::tr("error");
    case Severity::Warning: return ProblemModel::tr("warning");
    case Severity::Note: break;
    }
    return ProblemModel::tr("note");
}

}  // namespace

std::vector<ProblemRow> problemRows(const protocol::ModelRecord* model, const QString& refusal)
{
    std::vector<ProblemRow> rows;
    if (!refusal.isEmpty())
        rows.push_back({.severity = Severity::Error,
                        .code = ProblemModel::tr("refused"),
                        .message = refusal,
                        .place = {},
                        .op = {}});
    if (model == nullptr) return rows;
    const Severity severity = model->splittable ? Severity::Warning : Severity::Error;
    for (const protocol::LintRecord& lint : model->lints) {
        rows.push_back({.severity = severity,
                        .code = text(lint.code),
                        .message = text(lint.message),
                        .place = lint.op.valid() ? placeOf(model->ops[lint.op]) : QString(),
                        .op = lint.op});
    }
    for (const std::string& note : model->notes)
        rows.push_back({.severity = Severity::Note, .code = {}, .message = text(note), .place = {}, .op = {}});
    return rows;
}

QVariant ProblemModel::cell(const ProblemRow& row, ProblemColumn column, int role) const
{
    const QString& shown = column == ProblemColumn::Message ? row.message : row.place;
    switch (role) {
    case Qt::DisplayRole: return shown;
    case Qt::ToolTipRole: return row.code.isEmpty() ? row.message : tr("%1 (%2)").arg(row.message, row.code);
    case Qt::AccessibleTextRole:
        return column == ProblemColumn::Message ? tr("%1: %2").arg(severityName(row.severity), shown) : shown;
    case TargetRole: return row.op.valid() ? QVariant::fromValue(Target::op(row.op)) : QVariant();
    case SeverityRole: return static_cast<int>(row.severity);
    default: return {};
    }
}

QVariant ProblemModel::header(ProblemColumn column, int role) const
{
    if (role != Qt::DisplayRole) return {};
    return column == ProblemColumn::Message ? tr("Problem") : tr("Where");
}

}  // namespace hopscope::models
