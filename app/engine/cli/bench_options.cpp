#include "cli/bench_options.h"

#include <CLI/CLI.hpp>

#include "base/settings.h"

namespace hopscope::engine {

void addBenchOptions(CLI::App& command, BenchTexts& texts)
{
    BenchRunOptions& options = texts.options;
    command.add_option("--nodes", options.nodes, "Number of nodes of the generated graph")->capture_default_str();
    command.add_option("--edges", options.edges, "Number of edges")->capture_default_str();
    command.add_option("--features", options.features, "Number of input features")->capture_default_str();
    command.add_option("--hidden", options.hidden, "Hidden width")->capture_default_str();
    command.add_option("--outputs", options.outputs, "Output width")->capture_default_str();
    command.add_option("--layers", options.layers, "Number of layers")->capture_default_str();
    command.add_option("--seed", options.seed, "Random seed")->capture_default_str();
    command.add_option("--memory", texts.memory, "Memory limit on the executing device")
        ->type_name("SIZE")
        ->capture_default_str();
    command.add_option("--device", options.device, "auto, cpu, cuda or cuda:N")->capture_default_str();
    command.add_option("--batch", texts.batch, "Destination nodes per batch: auto or a number")->capture_default_str();
    command.add_option("--scale", options.scale, "Repeat with graphs larger by these factors: 10,31.6,100")
        ->delimiter(',')
        ->check(CLI::PositiveNumber);
    command.add_option("--targets", options.targets, "Number of nodes for the sampled verification; 0: none")
        ->capture_default_str();
    command.add_flag("--no-reference", texts.noReference, "Skip the float64 reference on all rows");
    command.add_option("--folder", options.folder, "Folder in which graph and model are kept and reused")
        ->type_name("DIR");
    command.add_flag("--keep", options.keep, "Keep the files");
}

base::Result<Command> benchCommand(const BenchTexts& texts)
{
    BenchRunOptions options = texts.options;
    std::optional<std::int64_t> memory;
    const base::Status read = base::readSettingText(texts.batch, {.option = "--batch"}, options.batch).and_then([&] {
        return base::readSettingText(texts.memory, {.option = "--memory", .quantity = base::Quantity::Bytes}, memory);
    });
    if (!read) return base::forward(read);
    options.memory = memory.value_or(options.memory);
    options.reference = !texts.noReference;
    return BenchCommand{options};
}

}  // namespace hopscope::engine
