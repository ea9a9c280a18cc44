#include "models/labels.h"

#include <QCoreApplication>
#include <QRegularExpression>
#include <algorithm>
#include <cmath>

#include "analysis/naming/op_words.h"
#include "base/units.h"

namespace hopscope::models {

namespace {

// Derived tables without the ids of the values that select their rows: "edge_index[v21]" is a part of the table,
// "edge_index[sorted v21]" the whole table in a different order.
QString tableLabel(const std::string& name)
{
    static const QRegularExpression sorted(QStringLiteral("\\[sorted v\\d+\\]")),
        selected(QStringLiteral("([\\w.]+)\\[v\\d+\\]"));
    return text(name).remove(sorted).replace(
        selected, QCoreApplication::translate("Op", "part of %1").arg(QStringLiteral("\\1")));
}

QString dimension(const protocol::ModelRecord& model, const std::string& dim)
{
    if (dim.size() < 2 || dim.front() != '|') return text(dim);
    const auto size = model.sizes.find(dim.substr(1, dim.size() - 2));
    return size == model.sizes.end() ? tableLabel(dim) : formatCount(static_cast<double>(size->second));
}

}  // namespace

namespace {

bool gathersOwn(const protocol::ModelRecord& model, const protocol::OpRecord& op)
{
    int depth = 0;
    for (const protocol::ValueId value : op.inputs) {
        const protocol::ValueRecord& record = model.values[value];
        if (record.producer.valid() && !record.structureOnly) depth = std::max(depth, model.ops[record.producer].depth);
    }
    return op.depth == depth;
}

bool isGatherOfOwn(const protocol::ModelRecord& model, const protocol::OpRecord& op)
{
    return op.kind == protocol::NodeKind::Gather && depthKnown(model) && gathersOwn(model, op);
}

}  // namespace

QString opLabel(const protocol::ModelRecord& model, const protocol::OpRecord& op)
{
    return isGatherOfOwn(model, op) ? QCoreApplication::translate("Labels", "gather destination") : humanLabel(op);
}

bool depthKnown(const protocol::ModelRecord& model) { return model.splittable || model.depth > 0; }

QString strategyLabel(base::Strategy strategy)
{
    if (!base::isRule(strategy)) return QCoreApplication::translate("Labels", "optimum");
    const QString name = text(base::nameOf(strategy)).replace(u'-', u' ');
    return name.endsWith(QLatin1String("rule")) ? name : QCoreApplication::translate("Labels", "%1 rule").arg(name);
}

QString capitalised(const QString& words) { return words.left(1).toUpper() + words.mid(1); }

QString sentence(const std::string& utf8, bool capital)
{
    static const QRegularExpression word(QStringLiteral("^[a-z]+ "));
    QString said = text(utf8);
    if (said.isEmpty()) return said;
    if (capital && word.match(said).hasMatch()) said[0] = said[0].toUpper();
    return said.endsWith(u'.') ? said : said + u'.';
}

QString text(const std::string& utf8) { return QString::fromStdString(utf8); }

QString formatBytes(double bytes) { return text(base::formatBytes(bytes)); }

QString formatCount(double count) { return text(base::formatCount(count)); }

QString formatSeconds(double seconds) { return text(base::formatSeconds(seconds)); }

QString formatSecondsFinely(double seconds)
{
    const double milliseconds = std::abs(seconds) * 1e3;
    if (milliseconds < 0.9995 || milliseconds >= 9.95) return formatSeconds(seconds);
    return QStringLiteral("%1 ms").arg(seconds * 1e3, 0, 'f', 1);
}

std::optional<qint64> memoryHint(const QString& hint)
{
    static const QRegularExpression asked(QStringLiteral("--memory (\\d+)$"));
    const QRegularExpressionMatch match = asked.match(hint);
    return match.hasMatch() ? std::optional(match.captured(1).toLongLong()) : std::nullopt;
}

QString withoutOptions(const QString& sentence)
{
    const std::optional<qint64> limit = memoryHint(sentence);
    if (!limit) return sentence;
    return sentence.left(sentence.lastIndexOf(QStringLiteral("--memory"))) + formatBytes(static_cast<double>(*limit));
}

QStringList figureLines(const plan::StageFigures& figures)
{
    QStringList lines;
    plan::forEachLabelled(figures, [&](const auto& figure, std::optional<double> number) {
        if (number)
            lines << QStringLiteral("%1: %2").arg(text(figure.label),
                                                  text(base::formatQuantity(*number, figure.quantity)));
    });
    return lines;
}

QString formatBytes(const std::optional<std::int64_t>& bytes)
{
    return bytes ? formatBytes(static_cast<double>(*bytes)) : QStringLiteral("–");
}

QString humanLabel(const protocol::OpRecord& op)
{
    if (!op.computes()) return text(op.name);
    return text(analysis::opWord(op.kind, op.name));
}

QString pathLabel(const protocol::OpRecord& op)
{
    QStringList parts;
    for (const std::string* part : {&op.module, &op.moduleType, &op.name})
        if (!part->empty()) parts << text(*part);
    return parts.join(QStringLiteral(" · "));
}

QString argumentsLabel(const protocol::OpRecord& op)
{
    QStringList shown;
    for (const protocol::ArgumentRecord& argument : op.arguments)
        if (argument.text != "None") shown << text(argument.name) + u'=' + text(argument.text);
    return shown.join(QStringLiteral(", "));
}

QString valueLabel(const protocol::ModelRecord& model, protocol::ValueId value)
{
    if (!model.values.contains(value)) return {};
    const protocol::ValueRecord& record = model.values[value];
    if (record.label.empty()) return text(record.name.empty() ? record.id : record.name);
    if (!record.producer.valid() || !isGatherOfOwn(model, model.ops[record.producer])) return text(record.label);
    const protocol::OpRecord& gather = model.ops[record.producer];
    return text(record.label).replace(humanLabel(gather), opLabel(model, gather));
}

QString shapeLabel(const protocol::ModelRecord& model, const protocol::ValueRecord& value)
{
    QStringList dims;
    for (const std::string& dim : value.shape) dims << dimension(model, dim);
    const QString shape =
        dims.isEmpty() ? QCoreApplication::translate("Op", "scalar") : dims.join(QStringLiteral(" × "));
    return value.dtype.empty() ? shape : shape + QLatin1Char(' ') + text(value.dtype);
}

QString rowsLabel(const protocol::ValueRecord& value)
{
    QStringList tables;
    for (const auto& space : value.spaces)
        if (space) tables << tableLabel(*space);
    if (tables.isEmpty()) return QCoreApplication::translate("Op", "no rows: shared by all nodes");
    return QCoreApplication::translate("Op", "one per row of %1").arg(tables.join(QStringLiteral(" × ")));
}

QString kindLabel(protocol::NodeKind kind)
{
    using protocol::NodeKind;
    switch (kind) {
    case NodeKind::Structure: return QCoreApplication::translate("Op", "structure only");
    case NodeKind::Rowwise: return QCoreApplication::translate("Op", "row-wise");
    case NodeKind::Aggregate: return QCoreApplication::translate("Op", "aggregation");
    case NodeKind::Reduce: return QCoreApplication::translate("Op", "reduction over rows");
    case NodeKind::Input:
    case NodeKind::Gather:
    case NodeKind::Output: break;
    }
    return QString::fromLatin1(base::nameOf(kind));
}

}  // namespace hopscope::models
