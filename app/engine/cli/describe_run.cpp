#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "base/units.h"
#include "cli/describe.h"
#include "cli/table.h"

namespace hopscope::engine {

namespace {

std::string scientific(double number)
{
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.1e", number);
    return number == 0 ? "0" : text.data();
}

std::string share(double part, double whole) { return whole > 0 ? base::formatShare(part / whole) : ""; }

std::string batchText(const schema::StageRecord& stage)
{
    const std::string size = base::formatCount(static_cast<double>(stage.largestBatch));
    return base::formatCount(static_cast<double>(stage.batches)) + " \u00d7 " + size;
}

std::string rate(const schema::StageRecord& stage)
{
    return stage.seconds > 0 ? base::formatCount(static_cast<double>(stage.destinations) / stage.seconds) : "";
}

// "38 % (matrix products)": the share of the bound in the duration.
std::string rooflineText(const schema::StageRecord& stage)
{
    if (!stage.boundSeconds || !stage.wall || !(*stage.boundSeconds > 0)) return "";
    return share(*stage.boundSeconds, stage.seconds) + " (" + plan::inWords(*stage.wall) + ")";
}

void addStage(Table& table, const schema::StageRecord& stage, const RunColumns& columns)
{
    const double whole = stage.phases.sum();
    const bool predicted = columns.rates && stage.predicted;
    std::vector<std::string> cells{std::to_string(stage.index.number),
                                   base::formatSeconds(stage.seconds),
                                   predicted ? base::formatSeconds(stage.predicted->seconds) : "",
                                   columns.rates ? rooflineText(stage) : "",
                                   rate(stage),
                                   batchText(stage)};
    for (const plan::NamedPhase& phase : plan::namedPhases) {
        const double seconds = stage.phases.*phase.seconds;
        cells.push_back(columns.phases && seconds > 0 ? share(seconds, whole) : "");
    }
    cells.insert(cells.end(), {base::formatBytes(static_cast<double>(stage.bytes.h2d)),
                               base::formatBytes(static_cast<double>(stage.bytes.d2h))});
    plan::forEachLabelled(stage, [&](const auto& figure, std::optional<double> number) {
        cells.push_back(number ? base::formatQuantity(*number, figure.quantity) : "");
    });
    table.add(std::move(cells));
}

// The labels of figures; empty if no stage has the figure.
std::vector<std::string> figureLabels(const schema::Report& report)
{
    std::vector<std::string> labels;
    for (const schema::StageRecord& stage : report.stages) {
        std::size_t at = 0;
        plan::forEachLabelled(stage, [&](const auto& figure, std::optional<double> number) {
            if (labels.size() == at) labels.emplace_back();
            if (number) labels[at] = figure.label;
            ++at;
        });
    }
    return labels;
}

// Over all stages, each weighted by the shorter of its copying and computing times.
std::string overlapLine(const schema::Report& report)
{
    double copying = 0, computing = 0, shorter = 0, both = 0;
    for (const schema::StageRecord& stage : report.stages) {
        if (!stage.overlap) continue;
        const double copies = stage.phases.h2d + stage.phases.d2h;
        const double least = std::min(copies, stage.phases.compute);
        copying += copies;
        computing += stage.phases.compute;
        shorter += least;
        both += *stage.overlap * least;
    }
    if (shorter <= 0) return "";
    const std::string percent = share(both, shorter);
    if (copying <= computing) return "copying hidden behind computation: " + percent + "\n";
    return "copying and computation overlapped for " + percent + " of the shorter of the two\n";
}

// Columns without headings vanish: those that are not wanted, and phases and figures that no stage has.
std::vector<std::string> headings(const schema::Report& report, const RunColumns& columns, const Style& style)
{
    const auto has = [&](auto member) {
        return std::ranges::any_of(report.stages, [&](const auto& stage) { return (stage.*member).has_value(); });
    };
    const bool predicted = columns.rates && has(&schema::StageRecord::predicted);
    const bool bound = columns.rates && has(&schema::StageRecord::boundSeconds);
    std::vector<std::string> names{"stage",  "time",   predicted ? "predicted" : "", bound ? "of roofline" : "",
                                   "rows/s", "batches"};
    for (const plan::NamedPhase& phase : plan::namedPhases) {
        const auto takes = [&](const auto& stage) { return stage.phases.*phase.seconds > 0; };
        names.emplace_back(columns.phases && std::ranges::any_of(report.stages, takes) ? phase.name : "");
    }
    names.insert(names.end(), {"read", "written"});
    std::ranges::move(figureLabels(report), std::back_inserter(names));
    for (std::string& name : names) name = style.dim(name);
    return names;
}

// Orders that differ from the input's.
std::string orderLines(const schema::Report& report)
{
    std::string text;
    for (const schema::OrderRecord& order : report.orders) {
        if (order.order == base::Reorder::None) continue;
        std::array<char, 64> rows{};
        std::snprintf(rows.data(), rows.size(), "%.1f rows per node instead of %.1f", order.alphaAfter,
                      order.alphaBefore);
        text += order.nodes + " reordered by " + base::nameOf(order.order) + " (" + base::formatSeconds(order.seconds) +
                "): tiles read " + rows.data() + "\n";
    }
    return text;
}

// The effects of narrower stores.
std::string narrowedLines(const schema::Report& report)
{
    std::string text;
    for (const schema::NarrowedRecord& store : report.narrowed) {
        text += store.value + " stored as " + base::dtypeName(store.to) + ": largest change " +
                scientific(store.maxAbsolute) + ", largest value " + scientific(store.largest);
        if (store.infinite > 0) text += "; " + std::to_string(store.infinite) + " became infinite";
        text += "\n";
    }
    return text;
}

std::string shapeText(const std::vector<std::int64_t>& shape)
{
    std::string text;
    for (const std::int64_t size : shape)
        text += (text.empty() ? "" : " \u00d7 ") + base::formatCount(static_cast<double>(size));
    return "[" + text + "]";
}

std::string outputLines(const schema::Report& report)
{
    Table table({Align::Left, Align::Left, Align::Left});
    for (const schema::OutputRecord& output : report.outputs)
        table.add({output.file, shapeText(output.shape), base::dtypeName(output.dtype)});
    return table.render(0);
}

// "on all 2,708 rows", "on 64 of 1.0 M rows, chosen over the degrees".
std::string coverageText(const schema::CoverageRecord& coverage)
{
    const std::string rows = base::formatCount(static_cast<double>(coverage.rows));
    if (coverage.method == schema::CoverageMethod::Full) return "on all " + rows + " rows";
    const std::string chosen = base::formatCount(static_cast<double>(coverage.chosen - coverage.skipped));
    std::string text =
        "on " + chosen + " of " + rows + " rows, " + std::to_string(coverage.hops) + "-hop neighbourhoods";
    if (coverage.skipped > 0)
        text += " (" + base::formatCount(static_cast<double>(coverage.skipped)) + " skipped: neighbourhood too large)";
    return text;
}

std::string largestDifference(const schema::Verification& verification)
{
    double absolute = 0;
    for (const schema::TensorRecord& record : verification.outputs) absolute = std::max(absolute, record.maxAbsolute);
    return "largest difference " + scientific(absolute);
}

// The work that remains after a shard which is not the last one.
std::string shardLine(const schema::Report& report)
{
    if (!report.shard || report.shard->complete) return "";
    return "shard " + std::to_string(report.shard->index) + " of " + std::to_string(report.shard->count) +
           " is complete; the last shard to finish publishes the results\n";
}

}  // namespace

std::string describeRun(const schema::Report& report, const Style& style, const RunColumns& columns)
{
    const std::vector<std::string> names = headings(report, columns, style);
    Table table(std::vector<Align>(names.size(), Align::Right));
    table.add(names);
    for (const schema::StageRecord& stage : report.stages) addStage(table, stage, columns);
    std::string text = table.render(0);
    text += "\n" + base::formatSeconds(report.seconds) + " on " + report.device + ", " +
            base::formatSeconds(report.prologueSeconds) + " of it for the prologue; peak memory " +
            base::formatBytes(static_cast<double>(report.peakMemory)) + "\n";
    text += orderLines(report) + narrowedLines(report) + overlapLine(report) + outputLines(report) + shardLine(report);
    return text + describeOutcome(report, style);
}

std::string describeOutcome(const schema::Report& report, const Style& style)
{
    const std::string lost = schema::notFiniteBesideVerdict(report);
    std::string text = lost.empty() ? "" : style.warn("not finite:") + " " + lost + "\n";
    if (report.verify) text += describeVerdict(*report.verify, style, !report.narrowed.empty());
    return text;
}

std::string describeVerdict(const schema::Verification& verification, const Style& style, bool narrowed)
{
    const char* const equal = narrowed ? "verified: within the stated error of the narrower stores" : "verified: equal";
    if (verification.verdict == schema::Verdict::Equal && verification.notFinite() > 0)
        return style.warn("verified, but not finite:") + " " + verification.reason + ", " +
               largestDifference(verification) + "\n";
    if (verification.verdict == schema::Verdict::Equal)
        return style.good(equal) + " " + coverageText(verification.coverage) + ", " + largestDifference(verification) +
               "\n";
    if (verification.verdict == schema::Verdict::Different)
        return style.bad("verification failed:") + " " + verification.reason + " (" + largestDifference(verification) +
               ")\n";
    return style.warn("not verified:") + " " + verification.reason + "\n";
}

}  // namespace hopscope::engine
