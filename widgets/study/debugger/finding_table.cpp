#include "study/debugger/finding_table.h"

#include <cmath>

#include "models/labels.h"
#include "models/roles.h"
#include "models/tr.h"
#include "panels/parts.h"

namespace hopscope::study {

namespace {

using models::Target;
using models::text;
using protocol::ModelRecord;

QString count(std::int64_t number) { return models::formatCount(static_cast<double>(number)); }

// As many digits as tell two numbers apart that differ by a rounding error.
QString number(double value) { return std::isfinite(value) ? QString::number(value, 'g', 7) : QStringLiteral("NaN"); }

QString brief(double value) { return std::isfinite(value) ? QString::number(value, 'g', 3) : QStringLiteral("NaN"); }

Target targetAt(const ModelRecord& model, ir::OpId op)
{
    const protocol::OpId found = model.findOp(op);
    return found.valid() ? Target::op(found) : Target();
}

QString linkTo(const ModelRecord& model, const schema::OperatorRecord& place)
{
    return panels::link(targetAt(model, place.op), text(place.name));
}

// "row 17 of node", "edge 5 of edge_index, from 1 to 2".
QString rowName(const schema::RowRecord& row)
{
    if (row.ends.size() == 2)
        return tr("edge %1 of %2, %3 → %4")
            .arg(row.row)
            .arg(text(row.table).toHtmlEscaped())
            .arg(row.ends[0])
            .arg(row.ends[1]);
    return tr("row %1 of %2").arg(row.row).arg(text(row.table).toHtmlEscaped());
}

QString kindAndPlace(const schema::OperatorRecord& place)
{
    QStringList parts{text(place.kind)};
    if (!place.module.empty()) parts << text(place.module);
    if (!place.source.empty()) parts << text(place.source);
    return parts.join(QStringLiteral(" · ")).toHtmlEscaped();
}

QString stageText(const std::optional<protocol::StageId>& stage)
{
    return stage ? QString::number(stage->number) : tr("before");
}

QString differenceSentence(const ModelRecord& model, const schema::DivergenceRecord& found,
                           const schema::DifferenceRecord& difference)
{
    const bool ofOne = found.first == "staged";
    QString line = tr("%1 and %2 first differ at <b>%3</b> (%4).")
                       .arg(ofOne ? tr("The staged run") : text(found.first).section(u'/', -1).toHtmlEscaped(),
                            ofOne ? tr("the unsplit model") : text(found.second).section(u'/', -1).toHtmlEscaped(),
                            linkTo(model, difference.place), kindAndPlace(difference.place));
    if (difference.what == "values")
        line += tr(" Rows that differ: %1 of %2, by up to %3 (relative %4).")
                    .arg(count(difference.rows), count(difference.of), brief(difference.maxAbsolute),
                         brief(difference.maxRelative));
    else line += u' ' + models::sentence(difference.what).toHtmlEscaped();
    if (difference.stage) line += tr(" It is computed in stage %1.").arg(difference.stage->number);
    for (const std::string& argument : difference.arguments)
        line += tr(" Its arguments differ: %1.").arg(text(argument).toHtmlEscaped());
    return line;
}

QString namesOf(const ModelRecord& model, const std::vector<schema::OperatorRecord>& places)
{
    constexpr std::size_t most = 6;
    QStringList names;
    for (std::size_t i = 0; i < std::min(most, places.size()); ++i) names << linkTo(model, places[i]);
    if (places.size() > most) names << tr("%1 more").arg(places.size() - most);
    return names.join(QStringLiteral(", "));
}

QString listed(const std::vector<std::string>& names)
{
    QStringList parts;
    for (const std::string& name : names) parts << text(name).toHtmlEscaped();
    return parts.join(QStringLiteral(", "));
}

// The differing rows that are easiest to read: those of nodes if there are any, else of the first divergence.
const schema::DifferenceRecord* readable(const schema::DivergenceRecord& found)
{
    if (found.nodes) return &*found.nodes;
    return found.divergence ? &*found.divergence : nullptr;
}

FindingLine makerLine(const ModelRecord& model, const schema::NonFiniteRecord& maker)
{
    const QString first = maker.shown.empty() ? QString() : rowName(maker.shown.front());
    return {.cells = {text(maker.place.name), count(maker.nan), count(maker.infinite), stageText(maker.stage),
                      maker.batch > 0 ? count(maker.batch) : QStringLiteral("–"),
                      maker.reachesOutput ? tr("yes") : tr("no"), first},
            .target = targetAt(model, maker.place.op)};
}

FindingTable contributionTable(const ModelRecord& model, const schema::WatchReport& found)
{
    FindingTable table{.title = tr("Contributions of the neighbours, the largest first"),
                       .headers = {tr("Node"), tr("Neighbour"), tr("Edge"), tr("Norm of the message"), tr("Share")},
                       .lines = {}};
    for (const schema::AggregationRecord& aggregation : found.aggregations)
        for (const schema::ContributionRecord& each : aggregation.contributions) {
            const bool edge = each.row.ends.size() == 2;
            table.lines.push_back(
                {.cells = {QString::number(aggregation.node),
                           edge ? QString::number(each.row.ends[0]) : QStringLiteral("–"),
                           QStringLiteral("%1 %2").arg(text(each.row.table)).arg(each.row.row), number(each.row.first),
                           QStringLiteral("%1 %").arg(100 * each.share, 0, 'f', 1)},
                 .target = targetAt(model, aggregation.place.op)});
        }
    return table;
}

FindingTable rowTable(const ModelRecord& model, const schema::WatchReport& found)
{
    FindingTable table{.title = tr("Rows of these nodes"), .headers = {tr("Row")}, .lines = {}};
    for (const schema::WatchRecord& watched : found.watched)
        for (std::size_t i = 0; i < watched.numbers.size(); ++i) {
            QStringList cells{QString::number(watched.nodes.at(i))};
            for (const double each : watched.numbers[i]) cells << number(each);
            while (table.headers.size() < cells.size()) table.headers << QString::number(table.headers.size() - 1);
            table.lines.push_back({.cells = cells, .target = targetAt(model, watched.place.op)});
        }
    return table;
}

}  // namespace

FindingTable tableOf(const ModelRecord& model, const schema::DivergenceRecord& found)
{
    const schema::DifferenceRecord* shown = readable(found);
    if (shown == nullptr || shown->shown.empty()) return {};
    FindingTable table{.title = tr("Rows of %1 that differ").arg(text(shown->place.name)),
                       .headers = {tr("Row"), tr("Element"), text(found.first).section(u'/', -1),
                                   text(found.second).section(u'/', -1), tr("Difference")},
                       .lines = {}};
    for (const schema::RowRecord& row : shown->shown)
        table.lines.push_back({.cells = {rowName(row), QString::number(row.element), number(row.first),
                                         number(row.second), brief(std::abs(row.first - row.second))},
                               .target = targetAt(model, shown->place.op)});
    return table;
}

FindingTable tableOf(const ModelRecord& model, const schema::NonFiniteReport& found)
{
    FindingTable table{.title = tr("Operators that turn finite numbers into NaN or infinity"),
                       .headers = {tr("Operator"), tr("NaN"), tr("Infinite"), tr("Stage"), tr("Batch"),
                                   tr("Reaches an output"), tr("First row")},
                       .lines = {}};
    for (const schema::NonFiniteRecord& maker : found.makers) table.lines.push_back(makerLine(model, maker));
    return table.lines.empty() ? FindingTable() : table;
}

FindingTable tableOf(const ModelRecord& model, const schema::WatchReport& found)
{
    return found.aggregations.empty() ? rowTable(model, found) : contributionTable(model, found);
}

QString sentencesOf(const ModelRecord& model, const schema::DivergenceRecord& found)
{
    QStringList lines;
    if (!found.divergence && !found.nodes)
        lines << tr("No difference beyond the tolerance. Values compared: %1.").arg(count(found.compared));
    if (found.divergence) lines << differenceSentence(model, found, *found.divergence);
    const bool later = found.nodes && found.divergence && found.nodes->place.op != found.divergence->place.op;
    if (later)
        lines << tr("In rows of nodes, a difference first appears at %1.").arg(linkTo(model, found.nodes->place));
    else if (found.nodes && !found.divergence) lines << differenceSentence(model, found, *found.nodes);
    for (const std::string& parameter : found.parameters)
        lines << tr("Different weights: %1.").arg(text(parameter).toHtmlEscaped());
    if (!found.onlyFirst.empty()) lines << tr("Only in the first model: %1.").arg(namesOf(model, found.onlyFirst));
    if (!found.onlySecond.empty()) lines << tr("Operators only in the second model: %1.").arg(found.onlySecond.size());
    return lines.join(QStringLiteral("<br>"));
}

QString sentencesOf(const ModelRecord& model, const schema::NonFiniteReport& found)
{
    QStringList lines;
    const auto harmful = std::ranges::find_if(found.makers, &schema::NonFiniteRecord::reachesOutput);
    if (found.makers.empty() && found.inputs.empty())
        lines << tr("All numbers are finite, in all operators and batches.");
    if (!found.inputs.empty()) lines << tr("Not finite from the start: %1.").arg(listed(found.inputs));
    if (harmful != found.makers.end())
        lines << tr("<b>%1</b> (%2) produces the first NaN or infinity that reaches an output.")
                     .arg(linkTo(model, harmful->place), kindAndPlace(harmful->place));
    else if (!found.makers.empty())
        lines << tr(
            "No NaN or infinity that an operator produces reaches an output: all are replaced later and do no harm.");
    if (!found.outputs.empty()) lines << tr("Outputs that are not finite: %1.").arg(listed(found.outputs));
    return lines.join(QStringLiteral("<br>"));
}

QString sentencesOf(const ModelRecord& model, const schema::WatchReport& found)
{
    QStringList lines;
    for (const schema::AggregationRecord& aggregation : found.aggregations)
        lines << (aggregation.messages == 1 ? tr("Node %1 receives %2 message at %3.")
                                            : tr("Node %1 receives %2 messages at %3."))
                     .arg(aggregation.node)
                     .arg(count(aggregation.messages), linkTo(model, aggregation.place));
    for (const schema::WatchRecord& watched : found.watched)
        lines << tr("The table lists the rows that %1 (%2) computes for these nodes.")
                     .arg(linkTo(model, watched.place), kindAndPlace(watched.place));
    if (lines.isEmpty())
        lines << tr("This operator has no rows of its own: it is part of another one, or is not needed.");
    return lines.join(QStringLiteral("<br>"));
}

void FindingModel::setTable(FindingTable table)
{
    beginResetModel();
    m_table = std::move(table);
    endResetModel();
}

int FindingModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_table.lines.size());
}

int FindingModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_table.headers.size());
}

QVariant FindingModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    const FindingLine& line = m_table.lines[static_cast<std::size_t>(index.row())];
    switch (role) {
    case Qt::DisplayRole:
    case Qt::ToolTipRole: return line.cells.value(index.column());
    case Qt::TextAlignmentRole:
        return static_cast<int>(Qt::AlignVCenter | (index.column() == 0 ? Qt::AlignLeft : Qt::AlignRight));
    case models::TargetRole:
        return line.target.kind == Target::Kind::None ? QVariant() : QVariant::fromValue(line.target);
    default: return {};
    }
}

QVariant FindingModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal) return {};
    if (role == Qt::TextAlignmentRole)
        return static_cast<int>(Qt::AlignVCenter | (section == 0 ? Qt::AlignLeft : Qt::AlignRight));
    return role == Qt::DisplayRole ? m_table.headers.value(section) : QVariant();
}

}  // namespace hopscope::study
