#include "study/tensors/follow_model.h"

#include <QPainter>
#include <algorithm>
#include <cmath>
#include <set>

#include "models/labels.h"
#include "panels/parts.h"
#include "study/tensors/heat_map.h"

namespace hopscope::study {

namespace {

using models::SortRole;
using models::Target;
using models::text;
using panels::arrowRoom;
using protocol::ModelRecord;
using protocol::PlanRecord;

// Tables whose rows stages compute.
std::set<std::string> nodeTables(const PlanRecord& plan)
{
    std::set<std::string> tables;
    for (const protocol::PlanStage& stage : plan.stages)
        for (const protocol::PlanLoop& loop : stage.loops) tables.insert(loop.destination);
    return tables;
}

// Empty: none.
std::string tableOf(const ModelRecord& model, protocol::ValueId value, const std::set<std::string>& tables)
{
    if (!model.values.contains(value)) return {};
    for (const std::optional<std::string>& space : model.values[value].spaces)
        if (space && tables.contains(*space)) return *space;
    return {};
}

bool hasRow(const ModelRecord& model, const std::string& table, std::int64_t node)
{
    const auto size = model.sizes.find(table);
    return !table.empty() && (size == model.sizes.end() || node < size->second);
}

void measure(FollowedRow& row)
{
    double squares = 0;
    row.least = row.numbers.empty() ? 0 : *std::ranges::min_element(row.numbers);
    row.most = row.numbers.empty() ? 0 : *std::ranges::max_element(row.numbers);
    for (const double each : row.numbers) {
        squares += each * each;
        if (!std::isfinite(each)) row.least = row.most = NAN;
    }
    row.norm = std::sqrt(squares);
}

QString brief(double value) { return std::isfinite(value) ? QString::number(value, 'g', 4) : QStringLiteral("NaN"); }

}  // namespace

FollowPlaces placesToFollow(const ModelRecord& model, const PlanRecord& plan)
{
    const std::set<std::string> tables = nodeTables(plan);
    FollowPlaces places;
    for (const protocol::PlanCheckpoint& stored : plan.checkpoints)
        if (!tableOf(model, stored.value, tables).empty()) places.values << text(model.values[stored.value].id);
    for (const protocol::OpRecord& op : model.ops) {
        const bool into = op.kind == protocol::NodeKind::Aggregate && !op.structureOnly && !op.outputs.empty();
        if (into && !tableOf(model, op.outputs.front(), tables).empty()) places.aggregations << text(op.id);
    }
    return places;
}

std::optional<std::int64_t> mostNodes(const ModelRecord& model, const PlanRecord& plan)
{
    std::optional<std::int64_t> most;
    for (const std::string& table : nodeTables(plan))
        if (const auto size = model.sizes.find(table); size != model.sizes.end())
            most = std::max(most.value_or(0), size->second);
    return most;
}

std::vector<FollowedRow> followedRows(const ModelRecord& model, const PlanRecord& plan,
                                      const schema::WatchReport& found)
{
    const std::set<std::string> tables = nodeTables(plan);
    std::vector<FollowedRow> rows;
    for (const schema::WatchRecord& watched : found.watched) {
        const protocol::ValueId value = watched.place.value;
        const protocol::PlanCheckpoint* stored = plan.checkpointOf(value);
        if (stored == nullptr || watched.nodes.empty() || watched.numbers.empty()) continue;
        const std::string table = tableOf(model, value, tables);
        if (!hasRow(model, table, watched.nodes.front())) continue;
        FollowedRow row{.target = Target::value(value),
                        .name = models::valueLabel(model, value),
                        .table = text(table),
                        .stage = stored->stage,
                        .output = stored->output,
                        .numbers = watched.numbers.front()};
        measure(row);
        rows.push_back(std::move(row));
    }
    std::ranges::stable_sort(rows, {}, &FollowedRow::stage);
    return rows;
}

std::vector<NeighbourRow> neighbourRows(const schema::AggregationRecord& aggregation)
{
    std::vector<NeighbourRow> rows;
    for (const schema::ContributionRecord& each : aggregation.contributions) {
        NeighbourRow row{.neighbour = {},
                         .edge = QStringLiteral("%1 %2").arg(text(each.row.table)).arg(each.row.row),
                         .norm = each.row.first,
                         .share = each.share};
        if (each.row.ends.size() == 2) row.neighbour = each.row.ends.front();
        else if (each.row.row == aggregation.node) {
            row.neighbour = aggregation.node;
            row.edge = NeighbourModel::tr("self-loop of the model");
        }
        rows.push_back(row);
    }
    double largest = 0;
    for (const NeighbourRow& row : rows) largest = std::max(largest, row.share);
    for (NeighbourRow& row : rows) row.ofLargest = largest > 0 ? row.share / largest : 0;
    return rows;
}

QString numbersText(const std::vector<double>& numbers)
{
    QStringList parts;
    for (const double each : numbers) parts << brief(each);
    return parts.join(QStringLiteral(", "));
}

QVariant FollowModel::cell(const FollowedRow& row, FollowColumn column, int role) const
{
    if (role == models::TargetRole) return QVariant::fromValue(row.target);
    const bool numbers = column == FollowColumn::Numbers;
    if (numbers && role == RowPainter::PictureRole) return QVariantList(row.numbers.begin(), row.numbers.end());
    if (numbers && (role == Qt::ToolTipRole || role == Qt::AccessibleTextRole || role == models::CopyRole))
        return numbersText(row.numbers);
    if (role != Qt::DisplayRole && role != SortRole && role != Qt::ToolTipRole) return {};
    const bool sort = role == SortRole;
    const auto number = [&](double value) { return sort ? QVariant(value) : QVariant(brief(value)); };
    switch (column) {
    case FollowColumn::Value: return row.output ? tr("%1 (output)").arg(row.name) : row.name;
    case FollowColumn::Stage: return sort ? QVariant(row.stage.number) : QVariant(QString::number(row.stage.number));
    case FollowColumn::Table: return row.table;
    case FollowColumn::Numbers: return sort ? QVariant(static_cast<int>(row.numbers.size())) : QVariant();
    case FollowColumn::Norm: return number(row.norm);
    case FollowColumn::Least: return number(row.least);
    case FollowColumn::Most: return number(row.most);
    case FollowColumn::Count: break;
    }
    return {};
}

QVariant FollowModel::header(FollowColumn column, int role) const
{
    if (role == Qt::ToolTipRole && column == FollowColumn::Numbers)
        return tr("The first %1 numbers of the row, coloured from the smallest to the largest")
            .arg(schema::mostWatchedNumbers);
    if (role == Qt::ToolTipRole && column == FollowColumn::Norm) return tr("Euclidean norm of these numbers");
    if (role != Qt::DisplayRole) return {};
    switch (column) {
    case FollowColumn::Value: return tr("Stored value");
    case FollowColumn::Stage: return tr("Stage") + arrowRoom();
    case FollowColumn::Table: return tr("Row of");
    case FollowColumn::Numbers: return tr("Numbers of the row");
    case FollowColumn::Norm: return tr("Norm") + arrowRoom();
    case FollowColumn::Least: return tr("Minimum") + arrowRoom();
    case FollowColumn::Most: return tr("Maximum") + arrowRoom();
    case FollowColumn::Count: break;
    }
    return {};
}

bool FollowModel::isNumber(FollowColumn column) const
{
    return column != FollowColumn::Value && column != FollowColumn::Table && column != FollowColumn::Numbers;
}

QVariant NeighbourModel::cell(const NeighbourRow& row, NeighbourColumn column, int role) const
{
    if (role == RowPainter::PictureRole && column == NeighbourColumn::Share) return row.ofLargest;
    if (role != Qt::DisplayRole && role != SortRole && role != Qt::ToolTipRole) return {};
    const bool sort = role == SortRole;
    switch (column) {
    case NeighbourColumn::Neighbour:
        if (sort) return static_cast<qlonglong>(row.neighbour.value_or(-1));
        return row.neighbour ? QString::number(*row.neighbour) : QStringLiteral("\u2013");
    case NeighbourColumn::Edge: return row.edge;
    case NeighbourColumn::Norm: return sort ? QVariant(row.norm) : QVariant(brief(row.norm));
    case NeighbourColumn::Share:
        return sort ? QVariant(row.share) : QVariant(QStringLiteral("%1 %").arg(100 * row.share, 0, 'f', 1));
    case NeighbourColumn::Count: break;
    }
    return {};
}

QVariant NeighbourModel::header(NeighbourColumn column, int role) const
{
    if (role == Qt::ToolTipRole && column == NeighbourColumn::Share)
        return tr("Share of the sum of the norms of all messages into the node");
    if (role == Qt::ToolTipRole && column == NeighbourColumn::Norm) return tr("Euclidean norm of the message");
    if (role != Qt::DisplayRole) return {};
    switch (column) {
    case NeighbourColumn::Neighbour: return tr("Neighbour");
    case NeighbourColumn::Edge: return tr("Edge");
    case NeighbourColumn::Norm: return tr("Norm");
    case NeighbourColumn::Share: return tr("Share");
    case NeighbourColumn::Count: break;
    }
    return {};
}

// Bars follow on the shares: all columns begin at their left.
bool NeighbourModel::isNumber(NeighbourColumn) const { return false; }

void RowPainter::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    const QVariant picture = index.data(PictureRole);
    QStyledItemDelegate::paint(painter, option, index);  // the text, and the background of the selection
    if (m_theme.scale.isEmpty()) return;
    if (picture.typeId() == QMetaType::Double) return paintBar(*painter, option, picture.toDouble());
    if (picture.typeId() != QMetaType::QVariantList) return;
    const QRect room = option.rect.adjusted(4, 4, -4, -4);
    const QVariantList numbers = picture.toList();
    double least = INFINITY, most = -INFINITY;
    for (const QVariant& each : numbers)
        if (std::isfinite(each.toDouble()))
            least = std::min(least, each.toDouble()), most = std::max(most, each.toDouble());
    const auto count = static_cast<int>(numbers.size());
    for (int at = 0; at < count; ++at) {
        const int left = at * room.width() / count, right = (at + 1) * room.width() / count;
        painter->fillRect(QRect(room.left() + left, room.top(), std::max(1, right - left), room.height()),
                          heatColour(m_theme, numbers[at].toDouble(), least, most));
    }
}

// Behind the text, which has the room of the longest one.
void RowPainter::paintBar(QPainter& painter, const QStyleOptionViewItem& option, double length) const
{
    const int text = option.fontMetrics.horizontalAdvance(QStringLiteral("100.0 %")) + 20;
    const QRect room = option.rect.adjusted(text, 6, -4, -6);
    const int width = static_cast<int>(std::lround(length * room.width()));
    if (width > 0) painter.fillRect(QRect(room.left(), room.top(), width, room.height()), m_theme.accent);
}

}  // namespace hopscope::study
