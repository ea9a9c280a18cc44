#include "study/receptive/field_model.h"

#include <algorithm>
#include <set>

#include "models/labels.h"

namespace hopscope::study {

namespace {

using schema::FieldLevel;
using schema::ReceptiveField;

QString count(qint64 number) { return models::formatCount(static_cast<double>(number)); }

QString count(const std::optional<qint64>& number) { return number ? count(*number) : QStringLiteral("–"); }

QString share(const FieldRow& row)
{
    const double percent = row.of > 0 ? 100.0 * static_cast<double>(row.rows) / static_cast<double>(row.of) : 0;
    return QStringLiteral("%1 %").arg(percent, 0, 'f', percent < 10 && row.rows < row.of ? 1 : 0);
}

bool severalTables(const ReceptiveField& field)
{
    std::set<std::string> tables;
    for (const FieldLevel& level : field.levels)
        for (const schema::FieldRows& rows : level.rows) tables.insert(rows.table);
    return tables.size() > 1;
}

std::optional<qint64> edgesInto(const FieldLevel& level, const std::string& table)
{
    std::optional<qint64> sum;
    for (const schema::FieldEdges& edges : level.edges)
        if (edges.to == table) sum = sum.value_or(0) + edges.edges;
    return sum;
}

std::optional<qint64> blockEdges(const ReceptiveField& field, int depth, const std::string& table)
{
    std::optional<qint64> sum;
    for (const schema::FieldBlock& block : field.blocks)
        if (block.depth == depth && table == field.table) sum = sum.value_or(0) + block.edges;
    return sum;
}

QString display(const FieldRow& row, FieldColumn column)
{
    switch (column) {
    case FieldColumn::Round: {
        const QString name = roundName(row.depth, row.result);
        return row.table.isEmpty() ? name : QStringLiteral("%1 · %2").arg(name, row.table);
    }
    case FieldColumn::Rows: return count(row.rows);
    case FieldColumn::Share: return share(row);
    case FieldColumn::Edges: return count(row.edges);
    case FieldColumn::Block: return count(row.blockEdges);
    case FieldColumn::Bytes: return models::formatBytes(static_cast<double>(row.bytes));
    case FieldColumn::Count: break;
    }
    return {};
}

}  // namespace

QString roundName(int depth, bool result)
{
    if (result) return FieldModel::tr("result");
    return depth == 0 ? FieldModel::tr("input") : FieldModel::tr("hop %1").arg(depth);
}

std::vector<FieldRow> fieldRows(const ReceptiveField& field)
{
    std::vector<FieldRow> made;
    const bool several = severalTables(field);
    for (std::size_t at = 0; at < field.levels.size(); ++at)
        for (const schema::FieldRows& rows : field.levels[at].rows) {
            const int depth = field.levels[at].depth;
            made.push_back({.level = static_cast<int>(at),
                            .depth = depth,
                            .result = at == 0,
                            .table = several ? models::text(rows.table) : QString(),
                            .rows = rows.rows,
                            .of = rows.of,
                            .bytes = rows.rows * rows.rowBytes,
                            .edges = edgesInto(field.levels[at], rows.table),
                            .blockEdges = blockEdges(field, depth, rows.table)});
        }
    return made;
}

QVariant FieldModel::cell(const FieldRow& row, FieldColumn column, int role) const
{
    switch (role) {
    case Qt::DisplayRole:
    case Qt::AccessibleTextRole: return display(row, column);
    case Qt::ToolTipRole: return header(column, Qt::ToolTipRole);
    default: return {};
    }
}

QVariant FieldModel::header(FieldColumn column, int role) const
{
    const bool tip = role == Qt::ToolTipRole;
    if (role != Qt::DisplayRole && !tip) return {};
    switch (column) {
    case FieldColumn::Round: return tip ? tr("Hop after which the rows are needed") : tr("After");
    case FieldColumn::Rows: return tip ? tr("Different rows that the result of the node depends on") : tr("Rows");
    case FieldColumn::Share: return tip ? tr("Share of all rows of the table") : tr("Share");
    case FieldColumn::Edges: return tip ? tr("Edges that are combined into these rows") : tr("Edges");
    case FieldColumn::Block:
        return tip ? tr("Edges that a layer-wise run combines for this node in this hop") : tr("Layer-wise");
    case FieldColumn::Bytes: return tip ? tr("Size of these rows") : tr("Bytes");
    case FieldColumn::Count: break;
    }
    return {};
}

}  // namespace hopscope::study
