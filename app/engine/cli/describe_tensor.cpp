#include <algorithm>

#include "base/units.h"
#include "cli/describe.h"
#include "cli/table.h"

namespace hopscope::engine {

namespace {

constexpr std::size_t mostColumns = 8;

std::string number(const std::optional<double>& value) { return value ? base::formatNumber(*value) : "-"; }

std::string shapeOf(const schema::TensorSummary& record)
{
    std::string text;
    for (const std::int64_t size : record.shape) text += (text.empty() ? "" : " x ") + std::to_string(size);
    return text.empty() ? "one number" : text;
}

std::string originOf(const schema::TensorSummary& record)
{
    using enum schema::TensorOrigin;
    switch (record.from) {
    case Input: return "input";
    case Weight: return "weight";
    case Unsplit: return "computed on whole tensors";
    case Staged: break;
    }
    std::string text = "stage " + std::to_string(record.stage.value_or(plan::StageId(1)).number);
    if (!record.batch) return text + ", all batches";
    const std::int64_t first = record.batch->firstDestination;
    return text + ", batch " + std::to_string(record.batch->number) + " with destinations " + std::to_string(first) +
           " to " + std::to_string(first + record.batch->destinations - 1);
}

// The height of each bin, in ten shades.
std::string histogramOf(const schema::Statistics& statistics)
{
    static constexpr std::string_view steps = " .:-=+*#%@";
    const std::int64_t most = std::ranges::max(statistics.histogram);
    std::string text;
    for (const std::int64_t part : statistics.histogram)
        text += steps[static_cast<std::size_t>(part == 0 ? 0 : 1 + 8 * part / most)];
    return number(statistics.least) + " |" + text + "| " + number(statistics.most);
}

std::string rowName(const schema::TensorRow& row)
{
    const std::string name = (row.table.empty() ? "row" : row.table) + " " + std::to_string(row.row);
    if (row.ends.size() != 2) return name;
    return name + " (" + std::to_string(row.ends[0]) + " to " + std::to_string(row.ends[1]) + ")";
}

std::string rowTable(const std::vector<schema::TensorRow>& rows)
{
    std::size_t columns = 0;
    for (const schema::TensorRow& row : rows) columns = std::max(columns, std::min(mostColumns, row.numbers.size()));
    std::vector<Align> aligns(columns + 2, Align::Right);
    aligns.front() = Align::Left;
    Table table(aligns);
    for (const schema::TensorRow& row : rows) {
        std::vector<std::string> cells{rowName(row)};
        for (std::size_t i = 0; i < columns; ++i)
            cells.push_back(i < row.numbers.size() ? base::formatNumber(row.numbers[i]) : "");
        cells.emplace_back(row.numbers.size() > columns ? "..." : "");
        table.add(cells);
    }
    return rows.empty() ? "" : table.render();
}

}  // namespace

std::string describeTensor(const schema::TensorSummary& record, const Style& style)
{
    const schema::OperatorRecord& place = record.place;
    const schema::Statistics& numbers = record.statistics;
    std::string text = style.bold(ir::valueName(place.value) + "  " + place.name) + "\n  " + place.kind;
    if (!place.module.empty()) text += " in " + place.module;
    if (!place.source.empty()) text += " (" + place.source + ")";
    text += "\n  " + record.dtype + ", " + shapeOf(record);
    if (!record.rows.empty()) text += ", " + record.rows;
    text += "\n  " + originOf(record) + "\n";
    text += "  min " + number(numbers.least) + "  max " + number(numbers.most) + "  mean " + number(numbers.mean) +
            "  std " + number(numbers.deviation) + "\n";
    text += "  " + base::counted(numbers.numbers, "number") + ": " + base::counted(numbers.zeros, "zero") + ", " +
            count(numbers.nan) + " NaN, " + count(numbers.infinite) + " infinite\n";
    if (!numbers.histogram.empty()) text += "  " + histogramOf(numbers) + "\n";
    text += "\n" + rowTable(record.shown);
    if (!record.file.empty()) text += "written to " + record.file + "\n";
    return text;
}

}  // namespace hopscope::engine
