#include "study/receptive/field_text.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "models/labels.h"
#include "models/tr.h"
#include "study/receptive/field_model.h"

namespace hopscope::study {

namespace {

using models::text;
using schema::ReceptiveField;

QString count(std::int64_t number) { return models::formatCount(static_cast<double>(number)); }

// As many digits as matter: "7.4", "312", "12,345".
QString average(double number)
{
    return number < 100 ? QStringLiteral("%1").arg(number, 0, 'f', 1) : models::formatCount(std::round(number));
}

std::int64_t rowsAt(const ReceptiveField& field, int depth)
{
    std::int64_t sum = 0;
    for (const schema::FieldLevel& level : field.levels)
        for (const schema::FieldRows& rows : level.rows) sum += level.depth == depth ? rows.rows : 0;
    return sum;
}

std::int64_t rowsOf(const ReceptiveField& field, int depth)
{
    std::int64_t sum = 0;
    for (const schema::FieldLevel& level : field.levels)
        for (const schema::FieldRows& rows : level.rows) sum += level.depth == depth ? rows.of : 0;
    return sum;
}

std::int64_t allEdges(const ReceptiveField& field)
{
    std::int64_t sum = 0;
    for (const schema::FieldLevel& level : field.levels)
        for (const schema::FieldEdges& edges : level.edges) sum += edges.edges;
    return sum;
}

QString edgesText(std::int64_t number) { return number == 1 ? tr("1 edge") : tr("%1 edges").arg(count(number)); }

QString rowsText(std::int64_t number) { return number == 1 ? tr("1 row") : tr("%1 rows").arg(count(number)); }

QString rounds(int depth) { return depth == 1 ? tr("1 hop") : tr("%1 hops").arg(depth); }

QString howKnown(const schema::FieldExplosion& explosion)
{
    if (explosion.method == schema::MeanMethod::Exact)
        return tr("exact: computed for all %1 nodes").arg(count(explosion.nodes));
    return tr("estimated from %1 nodes drawn at random").arg(count(explosion.nodes));
}

QString listed(const std::vector<std::int64_t>& ids)
{
    QStringList numbers;
    numbers.reserve(static_cast<qsizetype>(ids.size()));
    for (const std::int64_t id : ids) numbers << QString::number(id);
    return numbers.join(QStringLiteral(", "));
}

QString listedOrMany(const std::vector<std::int64_t>& ids, std::int64_t rows)
{
    if (!ids.empty() || rows == 0) return listed(ids);
    return tr("%1 of them, too many to list; hopscope-engine receptive-field --ids writes them to a file")
        .arg(count(rows));
}

// "3 ← 0, 1, 2": the sources of each destination.
QString incoming(const schema::FieldEdges& edges)
{
    std::map<std::int64_t, std::vector<std::int64_t>> sources;
    for (std::size_t i = 0; i < edges.toIds.size(); ++i) sources[edges.toIds[i]].push_back(edges.fromIds[i]);
    QStringList lines;
    for (auto& [to, from] : sources) {
        std::ranges::sort(from);
        lines << QStringLiteral("%1 ← %2").arg(to).arg(listed(from));
    }
    return lines.join(u'\n');
}

void describeEdges(QStringList& lines, const schema::FieldEdges& edges)
{
    lines << QString() << tr("%1 of %2 (of %3)").arg(edgesText(edges.edges), text(edges.table), count(edges.of));
    for (const schema::FieldParent& parent : edges.parents)
        lines << (parent.rows == 1 ? tr("row of %1: %2") : tr("rows of %1: %2"))
                     .arg(text(parent.table), listedOrMany(parent.ids, parent.rows));
    if (!edges.toIds.empty()) lines << incoming(edges);
}

// The averages that count rows, at this depth.
std::vector<schema::FieldMean> rowMeans(const schema::FieldExplosion& explosion, int depth)
{
    std::vector<schema::FieldMean> found;
    for (const schema::FieldMean& mean : explosion.means)
        if (!mean.edges && mean.depth == depth) found.push_back(mean);
    return found;
}

QString inputSentence(const ReceptiveField& field)
{
    double mean = 0, error = 0;
    for (const schema::FieldMean& each : rowMeans(field.explosion, 0)) mean += each.mean, error += each.error;
    const QString margin = error > 0 ? tr(" ± %1").arg(average(error)) : QString();
    return tr("On average a result depends on %1%2 input rows of %3 (%4).")
        .arg(average(mean), margin, count(rowsOf(field, 0)), howKnown(field.explosion));
}

QString bytesSentence(const ReceptiveField& field)
{
    double bytes = 0, own = 0;
    for (const schema::FieldMean& each : rowMeans(field.explosion, 0)) bytes += each.bytes, own += each.ownBytes;
    return tr("Node by node, all %1 results together read %2 of input rows; the rows themselves occupy %3.")
        .arg(count(field.nodes), models::formatBytes(bytes), models::formatBytes(own));
}

QString repeatSentence(const ReceptiveField& field, int depth)
{
    double repeated = 0;
    for (const schema::FieldMean& each : rowMeans(field.explosion, depth)) repeated = std::max(repeated, each.repeated);
    return tr("Node by node, a row after hop %1 would be computed %2 times on average; layer by layer, once.")
        .arg(depth)
        .arg(average(repeated));
}

}  // namespace

std::int64_t inputRows(const ReceptiveField& field) { return rowsAt(field, 0); }

std::int64_t blockEdges(const ReceptiveField& field)
{
    std::int64_t sum = 0;
    for (const schema::FieldBlock& block : field.blocks) sum += block.edges;
    return sum;
}

double meanInputRows(const ReceptiveField& field)
{
    double sum = 0;
    for (const schema::FieldMean& mean : rowMeans(field.explosion, 0)) sum += mean.mean;
    return sum;
}

QString fieldSentence(const ReceptiveField& field)
{
    return tr("The result of node %1 depends on %2 of %3 input rows, through %5 in %4.")
        .arg(QString::number(field.node), count(rowsAt(field, 0)), count(rowsOf(field, 0)), rounds(field.depth),
             edgesText(allEdges(field)));
}

QString blockSentence(const ReceptiveField& field)
{
    if (field.blocks.empty()) return {};
    return tr("Layer by layer, the rows before each hop are stored: over all hops, the node needs only its own %1.")
        .arg(edgesText(blockEdges(field)));
}

QStringList explosionSentences(const ReceptiveField& field)
{
    if (field.explosion.means.empty()) return {};
    QStringList sentences{inputSentence(field), bytesSentence(field)};
    for (int depth = 1; depth < field.depth; ++depth) sentences << repeatSentence(field, depth);
    return sentences;
}

QString levelText(const ReceptiveField& field, int level)
{
    if (level < 0 || level >= static_cast<int>(field.levels.size())) return {};
    const schema::FieldLevel& shown = field.levels[static_cast<std::size_t>(level)];
    QStringList lines;
    for (const schema::FieldRows& rows : shown.rows)
        lines << tr("%1 of %2: %3").arg(rowsText(rows.rows), text(rows.table), listedOrMany(rows.ids, rows.rows));
    for (const schema::FieldEdges& edges : shown.edges) describeEdges(lines, edges);
    return lines.join(u'\n');
}

}  // namespace hopscope::study
