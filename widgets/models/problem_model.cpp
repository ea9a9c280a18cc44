#include "models/problem_model.h"

#include <algorithm>

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

const protocol::LintRecord* blockingLint(const protocol::ModelRecord& model)
{
    const auto it = std::ranges::find_if(model.lints, &protocol::LintRecord::blocking);
    return model.splittable || it == model.lints.end() ? nullptr : &*it;
}

bool isUntrusted(const protocol::ModelRecord& model)
{
    const protocol::LintRecord* lint = blockingLint(model);
    return lint && lint->code == "untrusted";
}

QString refusalTitle(const protocol::ModelRecord& model)
{
    const protocol::LintRecord* lint = blockingLint(model);
    if (isUntrusted(model)) return ProblemModel::tr("This model has not been run");
    return lint && lint->code == "no-run" ? ProblemModel::tr("The model does not run on these data")
                                          : ProblemModel::tr("This model cannot be evaluated layer by layer");
}

std::vector<ProblemRow> problemRows(const protocol::ModelRecord* model, const QString& refusal)
{
    std::vector<ProblemRow> rows;
    if (!refusal.isEmpty())
        rows.push_back({.severity = Severity::Error,
                        .code = ProblemModel::tr("refused"),
                        .message = withoutOptions(refusal),
                        .hint = {},
                        .place = {},
                        .op = {}});
    if (model == nullptr) return rows;
    const bool asked = isUntrusted(*model);  // by the card above the graph
    for (const protocol::LintRecord& lint : model->lints) {
        rows.push_back({.severity = lint.blocking ? Severity::Error : Severity::Warning,
                        .code = text(lint.code),
                        .message = text(lint.message),
                        .hint = asked && lint.blocking ? QString() : text(lint.hint),
                        .place = lint.op.valid() ? placeOf(model->ops[lint.op]) : QString(),
                        .op = lint.op});
    }
    for (const std::string& note : model->notes)
        rows.push_back(
            {.severity = Severity::Note, .code = {}, .message = text(note), .hint = {}, .place = {}, .op = {}});
    return rows;
}

QVariant ProblemModel::cell(const ProblemRow& row, ProblemColumn column, int role) const
{
    const QString advised = row.hint.isEmpty() ? row.message : row.message + u'\n' + row.hint;
    const QString& shown = column == ProblemColumn::Message ? advised : row.place;
    switch (role) {
    case Qt::DisplayRole: return shown;
    case Qt::ToolTipRole: return row.code.isEmpty() ? advised : tr("%1 (%2)").arg(advised, row.code);
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
