#include <cmath>

#include "base/units.h"
#include "cli/describe.h"
#include "cli/table.h"

namespace hopscope::engine {

namespace {

using base::formatNumber;

constexpr std::size_t mostRows = 8;

// "op42  aten::relu in convs.1 (gcn.py:17), which produces 'relu after convs.1'".
std::string placeOf(const schema::OperatorRecord& place)
{
    std::string text = ir::opName(place.op) + "  " + place.kind;
    if (!place.module.empty()) text += " in " + place.module;
    if (!place.source.empty()) text += " (" + place.source + ")";
    return text + ", which produces '" + place.name + "'";
}

std::string rowName(const schema::RowRecord& row)
{
    const std::string name = row.table + " " + std::to_string(row.row);
    if (row.ends.size() != 2) return name;
    return name + " (" + std::to_string(row.ends[0]) + " to " + std::to_string(row.ends[1]) + ")";
}

std::string rowTable(const std::vector<schema::RowRecord>& rows, bool second)
{
    Table table({Align::Left, Align::Right, Align::Right, Align::Right});
    table.add({"row", "element", second ? "first" : "value", second ? "second" : ""});
    for (std::size_t i = 0; i < std::min(mostRows, rows.size()); ++i)
        table.add({rowName(rows[i]), std::to_string(rows[i].element), formatNumber(rows[i].first),
                   second ? formatNumber(rows[i].second) : ""});
    return rows.empty() ? "" : table.render(4);
}

std::string differenceText(const char* title, const schema::DifferenceRecord& record, const Style& style)
{
    std::string text = style.bold(title) + "\n  " + placeOf(record.place) + "\n";
    if (record.stage) text += "  in stage " + std::to_string(record.stage->number) + "\n";
    if (record.what != "values") return text + "  " + record.what + "\n";
    for (const std::string& argument : record.arguments) text += "  argument " + argument + "\n";
    text += "  rows that differ: " + count(record.rows) + " of " + count(record.of) + ", by up to " +
            formatNumber(record.maxAbsolute) + "\n";
    return text + rowTable(record.shown, true);
}

std::string growthTable(const std::vector<schema::ErrorPoint>& growth)
{
    std::map<int, schema::ErrorPoint> worst;
    for (const schema::ErrorPoint& point : growth) {
        schema::ErrorPoint& most = worst[point.depth];
        if (!most.op.valid() || point.maxAbsolute > most.maxAbsolute) most = point;
    }
    Table table({Align::Right, Align::Left, Align::Right, Align::Right});
    table.add({"depth", "at", "largest", "relative"});
    for (const auto& [depth, point] : worst)
        table.add({std::to_string(depth), ir::opName(point.op), formatNumber(point.maxAbsolute),
                   formatNumber(point.maxRelative)});
    return table.render();
}

std::string onlyText(const std::string& name, const std::vector<schema::OperatorRecord>& operators)
{
    std::string text;
    for (const schema::OperatorRecord& op : operators) text += "  only in " + name + ": " + placeOf(op) + "\n";
    return text;
}

}  // namespace

std::string describeFindings(const schema::DivergenceRecord& found, const Style& style)
{
    std::string text =
        "compared " + base::counted(found.compared, "value") + ": " + found.first + ", " + found.second + "\n\n";
    if (!found.divergence) text += style.good("no difference beyond the tolerance") + "\n";
    for (const std::string& parameter : found.parameters) text += "  weights differ: " + parameter + "\n";
    text += onlyText(found.first, found.onlyFirst) + onlyText(found.second, found.onlySecond);
    if (found.divergence) text += differenceText("First divergence", *found.divergence, style);
    if (found.nodes && found.nodes->place.op != found.divergence->place.op)
        text += differenceText("First divergence on nodes", *found.nodes, style);
    if (!found.growth.empty()) text += "\n" + style.bold("Differences by depth") + "\n" + growthTable(found.growth);
    return text;
}

std::string describeFindings(const schema::NonFiniteReport& found, const Style& style)
{
    std::string text;
    for (const std::string& input : found.inputs) text += style.bad(input + " itself contains NaN or infinity") + "\n";
    for (const schema::NonFiniteRecord& maker : found.makers) {
        text += style.bold(maker.reachesOutput ? "Produces NaN or infinity"
                                               : "Produces NaN or infinity that reaches no output") +
                "\n  " + placeOf(maker.place) + "\n";
        if (maker.stage)
            text += "  first in batch " + std::to_string(maker.batch) + " of stage " +
                    std::to_string(maker.stage->number) + "\n";
        text +=
            "  " + count(maker.nan) + " NaN, " + count(maker.infinite) + " infinite\n" + rowTable(maker.shown, false);
    }
    if (found.outputs.empty()) return text + style.good("all outputs are finite") + "\n";
    for (const std::string& output : found.outputs) text += style.bad("output " + output + " is not finite") + "\n";
    return text;
}

namespace {

std::string aggregationText(const schema::AggregationRecord& record, const Style& style)
{
    Table table({Align::Left, Align::Right, Align::Right});
    table.add({"message of", "norm", "share"});
    for (const schema::ContributionRecord& c : record.contributions)
        table.add({rowName(c.row), formatNumber(c.row.first), formatNumber(std::round(1000 * c.share) / 10) + " %"});
    return style.bold("Messages into " + std::to_string(record.node)) + " (" + count(record.messages) + ")\n  " +
           placeOf(record.place) + "\n" + table.render(4);
}

}  // namespace

std::string describeFindings(const schema::WatchReport& found, const Style& style)
{
    Table table({Align::Right, Align::Right, Align::Left, Align::Left, Align::Left, Align::Right, Align::Right,
                 Align::Right, Align::Right, Align::Right, Align::Right});
    table.add({"stage", "batch", "operator", "", "shape", "min", "mean", "max", "zeros", "NaN", "inf"});
    for (const schema::HitRecord& hit : found.hits) {
        std::string shape;
        for (const std::int64_t size : hit.shape) shape += (shape.empty() ? "" : " x ") + std::to_string(size);
        const auto text = [](const std::optional<double>& value) {
            return value ? formatNumber(*value) : std::string();
        };
        table.add({std::to_string(hit.stage.number), std::to_string(hit.batch), ir::opName(hit.place.op),
                   hit.place.name, shape + " " + hit.dtype, text(hit.least), text(hit.mean), text(hit.most),
                   count(hit.zeros), count(hit.nan), count(hit.infinite)});
    }
    std::string text = found.hits.empty() ? "" : table.render();
    if (found.seen > 0 || (found.watched.empty() && found.aggregations.empty()))
        text += style.bold(count(found.seen)) + (found.seen == 1 ? " hit\n" : " hits\n");
    for (const schema::AggregationRecord& record : found.aggregations) text += aggregationText(record, style);
    for (const schema::WatchRecord& watched : found.watched)
        text += watched.file + "  " + placeOf(watched.place) + "\n";
    return text;
}

}  // namespace hopscope::engine
