#include "cli/describe_bench.h"

#include <algorithm>
#include <array>
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
    return text.data();
}

std::string fixed(double number)
{
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.2f", number);
    return text.data();
}

std::string bytes(std::int64_t count) { return base::formatBytes(static_cast<double>(count)); }

std::string referenceText(const BenchReference& reference, const Style& style)
{
    const std::string verdict = reference.equal ? style.good("equal") : style.bad("different");
    return "all " + count(reference.error.rows) + " rows against float64: " + verdict + ", largest difference " +
           scientific(reference.error.maxAbsolute) + " (" + scientific(reference.error.maxRelative) + " relative), " +
           base::formatSeconds(reference.seconds) + ", " + bytes(reference.peakMemory) + " in its own process\n";
}

std::string caseText(const BenchRunOptions& options, const BenchCase& item, const Style& style)
{
    std::string text = style.bold(count(item.nodes) + " nodes, " + count(item.edges) + " edges") + ", " +
                       std::to_string(options.layers) + " layers of " + std::to_string(options.hidden) + ", --memory " +
                       bytes(options.memory) + "\n";
    text += describeRun(item.run, style);
    text += base::formatCount(perSecond(static_cast<double>(item.nodes), item.run.seconds)) + " nodes/s, " +
            base::formatCount(edgeRate(options, item)) + " edges/s over all layers; peak anonymous memory " +
            bytes(item.anonymousPeak) + " (" + bytes(item.anonymousBefore) + " of it before the run)\n";
    if (item.sampled) text += describeVerdict(*item.sampled, style);
    if (item.sampled) text += count(item.sampled->coverage.withInEdges) + " of the compared rows have incoming edges\n";
    if (item.reference) text += referenceText(*item.reference, style);
    return text;
}

std::int64_t moved(const plan::Bytes& bytes) { return bytes.d2h + bytes.h2d + bytes.structure; }

}  // namespace

std::string describeBench(const BenchRunOptions& options, const std::vector<BenchCase>& cases, const Style& style)
{
    std::string text;
    for (const BenchCase& item : cases) text += (text.empty() ? "" : "\n") + caseText(options, item, style);
    if (cases.size() < 2) return text;
    Table table({Align::Right, Align::Right, Align::Right, Align::Right});
    table.add({"times the graph", "time", "bound", "time / bound"});
    const auto times = [](std::optional<double> number) { return number ? fixed(*number) : std::string("-"); };
    for (const Scaling& s : scalingOf(cases))
        table.add({fixed(s.nodes), fixed(s.time), times(s.bound), style.bold(times(s.overBound))});
    return text + "\n" + table.render();
}

std::string describeBenchPlans(const std::vector<MeasuredPlan>& all)
{
    std::vector<Align> columns(9, Align::Right);
    columns.front() = Align::Left;
    Table table(std::move(columns));
    table.add({"plan", "stages", "stores", "predicted", "measured", "bytes predicted", "bytes moved", "peak predicted",
               "peak memory"});
    const auto bytes = [](std::int64_t n) { return base::formatBytes(static_cast<double>(n)); };
    for (const MeasuredPlan& m : all)
        table.add({m.name, std::to_string(m.stages.size()), std::to_string(m.plan.checkpoints.size()),
                   base::formatSeconds(m.predicted()), base::formatSeconds(m.seconds()), bytes(moved(m.predictedBytes)),
                   bytes(moved(m.bytes)), bytes(std::ranges::max(m.predictedPeaks)), bytes(std::ranges::max(m.peaks))});
    return table.render() +
           (rankingHolds(all) ? "the plans are ranked as predicted\n" : "the plans are not ranked as predicted\n");
}

}  // namespace hopscope::engine
