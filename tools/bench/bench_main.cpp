#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/proc.h"
#include "bench/bench.h"
#include "graph/file.h"
#include "verify/verify.h"

namespace hopscope::bench {

namespace {

// Those that both planning and running take, but for how a plan is looked for. `settings` must outlive the parser.
void addSettings(CLI::App& command, base::Settings& settings)
{
    base::forEachField<base::Settings>([&]<class M>(const base::Setting<M>& setting) {
        const bool taken = setting.tasks.contain(base::Task::Plan) && setting.tasks.contain(base::Task::Verify);
        if (!taken || setting.ofSearch) return;
        const std::string option = base::optionOf(setting.name);
        if constexpr (std::same_as<M, bool>) {
            command.add_flag(option, settings.*setting.member, setting.meaning);
        } else {
            const auto read = [setting, &settings](const std::string& text) {
                const base::Status status = base::readSetting(setting, text, settings);
                if (!status) throw CLI::ValidationError(status.error().message);
            };
            command.add_option_function<std::string>(option, read, setting.meaning)
                ->default_str(base::settingText(settings.*setting.member));
        }
    });
}

void addRun(CLI::App& command, RunOptions& options)
{
    addSettings(command, options.settings);
    command.add_option("--nodes", options.nodes, "Number of nodes of the generated graph")->capture_default_str();
    command.add_option("--edges", options.edges, "Number of edges")->capture_default_str();
    command.add_option("--features", options.shape.features, "Number of input features")->capture_default_str();
    command.add_option("--hidden", options.shape.hidden, "Hidden width")->capture_default_str();
    command.add_option("--outputs", options.shape.outputs, "Output width")->capture_default_str();
    command.add_option("--layers", options.shape.layers, "Number of layers")->capture_default_str();
    command.add_option("--seed", options.shape.seed, "Random seed")->capture_default_str();
    command.add_option("--scale", options.scale, "Repeat with graphs larger by these factors: 10,31.6,100")
        ->delimiter(',')
        ->check(CLI::PositiveNumber);
    command.add_option("--targets", options.targets, "Number of nodes for the sampled verification; 0: none")
        ->capture_default_str();
    command.add_flag("--no-reference", options.noReference, "Skip the float64 reference on all rows");
    command.add_option("--folder", options.folder, "Folder that keeps the graph and the model for later runs");
}

void addPlans(CLI::App& command, PlansOptions& options)
{
    command.add_option("MODEL", options.model.model, "TorchScript file")->required();
    command.add_flag("--trust", options.model.trusted, "Run the code of the model file without having agreed to it");
    command.add_option("--data", options.model.data, "Inputs of the model; may be repeated")
        ->required()
        ->allow_extra_args(false);
    addSettings(command, options.settings);
    command.add_option("--repeat", options.repeat, "Number of runs of each plan; the fastest counts")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
}

void addPlace(CLI::App& command, PlaceOptions& options)
{
    command.add_option("INSTANCE", options.file, "File with a single case or a list of cases")->required();
    command.add_option("--case", options.caseId, "Solve only the case with this id");
    command.add_option("--strategy", options.strategy, base::listNames<base::Strategy>())->capture_default_str();
    command.add_flag("--min-cut", options.minCut, "Also print the min-cut relaxation, a lower bound");
    command.add_option("--deadline", options.deadline, "Time limit per instance in seconds")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
}

int failed(const base::Error& error)
{
    std::fprintf(stderr, "error: %s\n", base::describe(error).c_str());
    return static_cast<int>(error.code);
}

int printed(const base::Result<Outcome>& outcome)
{
    if (!outcome) return failed(outcome.error());
    std::fputs(json::write(outcome->document, true).c_str(), stdout);
    return outcome->code;
}

}  // namespace

int benchMain(int count, char** arguments)
{
    RunOptions runOptions;
    PlansOptions plansOptions;
    PlaceOptions placeOptions;
    std::string request;
    CLI::App app("Measures the engine. Each command prints one JSON document.", "hopscope-bench");
    app.require_subcommand(1);
    addRun(*app.add_subcommand("run", "Benchmark a verified run on a generated graph"), runOptions);
    addPlans(*app.add_subcommand("plans", "Compare predictions with measurements, for optimal plans and the rules"),
             plansOptions);
    addPlace(*app.add_subcommand("place", "Solve abstract placement instances"), placeOptions);
    app.add_subcommand("oracle", "The child process of a verification")->group("")->add_option("REQUEST", request);
    try {
        app.parse(count, arguments);
    } catch (const CLI::Success& help) {
        return app.exit(help);
    } catch (const CLI::ParseError& mistake) {
        return failed(base::makeError(base::ErrorCode::Usage, mistake.what()));
    }
    graph::allowAnonymousScratch(base::availableMemory() / 4);  // as the engine does
    if (app.got_subcommand("oracle")) return verify::oracleMain(request);
    if (app.got_subcommand("run")) return printed(run(runOptions));
    if (app.got_subcommand("plans")) return printed(plans(plansOptions));
    return printed(place(placeOptions));
}

}  // namespace hopscope::bench
