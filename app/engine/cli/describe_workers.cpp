#include "base/units.h"
#include "cli/describe.h"
#include "cli/table.h"

namespace hopscope::engine {

namespace {

using Align = Table::Align;

std::string bytes(std::int64_t number) { return base::formatBytes(static_cast<double>(number)); }

// "paper 0 to 5,000".
std::string rangesOf(const executor::OwnedStage& stage)
{
    std::string text;
    for (const executor::OwnedRange& range : stage.ranges)
        text += (text.empty() ? "" : ", ") + range.nodes + " " + count(range.first) + " to " +
                count(range.first + range.count);
    return text;
}

}  // namespace

std::string describeWorkers(const pipeline::WorkersForecast& forecast, const Style& style)
{
    Table table({Align::Right, Align::Right, Align::Left, Align::Right, Align::Right, Align::Right, Align::Right,
                 Align::Right});
    const bool copied = forecast.request.replicas > 1;
    table.add({"worker", "stage", "destinations", "edges", "stores", "rows of others", "bytes in",
               copied ? "copies in" : ""});
    for (std::size_t w = 0; w < forecast.workers.size(); ++w)
        for (std::size_t s = 0; s < forecast.workers[w].size(); ++s) {
            const executor::OwnedStage& stage = forecast.workers[w][s];
            table.add({s == 0 ? std::to_string(w + 1) : "", std::to_string(stage.index.number), rangesOf(stage),
                       count(stage.edges), bytes(stage.storedBytes), count(stage.haloRows), bytes(stage.haloBytes),
                       copied ? bytes(forecast.copies(w, s).second) : ""});
        }
    return "\n" + style.bold("workers without a shared folder") + ": " + bytes(forecast.memory) +
           " of memory each, stores as files\n" + table.render() + pipeline::sentenceOf(forecast) + "\n";
}

}  // namespace hopscope::engine
