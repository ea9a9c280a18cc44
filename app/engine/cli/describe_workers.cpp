#include "base/units.h"
#include "cli/describe.h"
#include "cli/table.h"

namespace hopscope::engine {

namespace {

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

std::vector<std::string> rowOf(const pipeline::WorkersForecast& forecast, std::size_t worker, std::size_t at)
{
    const executor::OwnedStage& stage = forecast.workers[worker][at];
    std::vector<std::string> row{at == 0 ? std::to_string(worker + 1) : "",
                                 std::to_string(stage.index.number),
                                 rangesOf(stage),
                                 count(stage.edges),
                                 bytes(stage.storedBytes),
                                 count(stage.haloRows),
                                 bytes(stage.haloBytes)};
    if (forecast.request.replicas > 1) row.push_back(bytes(forecast.copies(worker, at).second));
    return row;
}

}  // namespace

std::string describeWorkers(const pipeline::WorkersForecast& forecast, const Style& style)
{
    const bool copied = forecast.request.replicas > 1;
    std::vector<Align> columns{Align::Right, Align::Right, Align::Left, Align::Right,
                               Align::Right, Align::Right, Align::Right};
    if (copied) columns.push_back(Align::Right);
    Table table(columns);
    std::vector<std::string> titles{"worker", "stage", "destinations", "edges", "stores", "rows of others", "bytes in"};
    if (copied) titles.emplace_back("copies in");
    table.add(titles);
    for (std::size_t w = 0; w < forecast.workers.size(); ++w)
        for (std::size_t s = 0; s < forecast.workers[w].size(); ++s) table.add(rowOf(forecast, w, s));
    return "\n" + style.bold("workers without a shared folder") + ": " + bytes(forecast.memory) +
           " of memory each, stores as files\n" + table.render() + pipeline::sentenceOf(forecast) + "\n";
}

}  // namespace hopscope::engine
