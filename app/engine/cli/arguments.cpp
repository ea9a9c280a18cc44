#include "cli/arguments.h"

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>

#include "base/failures.h"
#include "cli/misspelt.h"
#include "cli/option_values.h"
#include "cli/plan_options.h"
#include "cli/setting_options.h"
#include "cli/study_options.h"
#include "version.h"

namespace hopscope::engine {

namespace {

// Options that are read as text and converted after parsing.
struct Texts {
    std::string kind, shard;
};

// Everything that the parser fills in. One instance lives as long as the parser.
struct Parsed {
    bool json = false, quiet = false, noSandbox = false;
    Texts texts;
    std::vector<std::string> positionals;
    pipeline::ModelOptions model;
    pipeline::PlanSource plan;
    SettingOptions settings, exportSettings{base::usualFor(base::Task::Export)};
    std::string output, trace, request, schema, a, b;
    graph::GenerateOptions generate;
    MachineCommand machine;
    TrustCommand trust;
    PlanTexts told;
    std::optional<double> patience;
    receptive::Request field;
    DebugTexts debug;
};

void addOutputFlags(CLI::App& app, Parsed& parsed)
{
    app.add_flag("--json", parsed.json, "Print a single JSON document on standard output");
    app.add_flag("--quiet", parsed.quiet, "Suppress progress, notes and tables; the verdict stays");
    addSandbox(app, parsed.noSandbox);
}

void addModel(CLI::App& app, Parsed& parsed, bool dataRequired)
{
    app.add_option("MODEL", parsed.model.model, "TorchScript file (.pt) or exported program (.pt2)")->required();
    addTrusted(app, parsed.model);
    CLI::Option* const data = app.add_option(
        "--data", parsed.model.data,
        "Inputs of the model: a .safetensors file, a folder of .npy files, or NAME=FILE.npy; may be repeated");
    data->type_name("D")->required(dataRequired);
    app.add_option("--role", parsed.model.roles,
                   "What an input is: NAME=node:T, index:S>T, source:S>T, destination:S>T, offsets:S>T, "
                   "starts:S>T, edge:R, key:T>U, graph or plain; may be repeated")
        ->type_name("R");
}

CLI::Option* addPins(CLI::App& app, Parsed& parsed)
{
    return app.add_option("--pins", parsed.plan.pins, "Decisions that the plan has to respect: {\"pins\": [..]}")
        ->type_name("FILE");
}

// The options that make a plan, apart from the settings, or read it from a file.
void addPlanSource(CLI::App& app, Parsed& parsed)
{
    CLI::Option* const pins = addPins(app, parsed);
    CLI::Option* const file =
        app.add_option("--plan", parsed.plan.file, "Use this plan instead of making one")->type_name("FILE");
    pins->excludes(file);
    base::forEachField<base::Settings>([&](const auto& setting) {
        if (setting.ofSearch) app.get_option(base::optionOf(setting.name))->excludes(file);
    });
}

CLI::App& addCommand(CLI::App& app, Parsed& parsed, const char* name, const char* text, const char* examples)
{
    CLI::App* const command = app.add_subcommand(name, text);
    command->footer(std::string("\nExamples:\n") + examples);
    addOutputFlags(*command, parsed);
    return *command;
}

void addInspect(CLI::App& app, Parsed& parsed)
{
    CLI::App& command = addCommand(app, parsed, "inspect", "Show a model: depth, stages, values stored between them",
                                   "  hopscope-engine inspect model.pt\n"
                                   "  hopscope-engine inspect model.pt --data graph.safetensors --json\n");
    addModel(command, parsed, false);
}

void addPlan(CLI::App& app, Parsed& parsed)
{
    CLI::App& command = addCommand(app, parsed, "plan", "Decide what runs in which stage and what is stored",
                                   "  hopscope-engine plan model.pt --data graph.safetensors -o plan.json\n");
    addModel(command, parsed, true);
    parsed.settings.add(command, base::Task::Plan);
    addPins(command, parsed);
    command.add_option("-o,--output", parsed.output, "Write the plan to this file")->type_name("FILE");
    addPlanOptions(command, parsed.told);
}

void addRun(CLI::App& app, Parsed& parsed)
{
    CLI::App& command = addCommand(
        app, parsed, "run", "Evaluate a model layer by layer for all nodes",
        "  hopscope-engine run model.pt --data graph.safetensors -o results\n"
        "  hopscope-engine run model.pt --data x=feat.npy --data edge_index=ei.npy -o results --memory 1Gi\n");
    addModel(command, parsed, true);
    parsed.settings.add(command, base::Task::Run);
    addPlanSource(command, parsed);
    command.add_option("-o,--output", parsed.output, "Folder for out.npy and report.json")
        ->type_name("DIR")
        ->required();
    CLI::Option* const shard =
        command
            .add_option("--shard", parsed.texts.shard,
                        "CPU: compute part I of N; all N processes get the same DIR, and the last one publishes")
            ->type_name("I/N");
    command.add_option("--wait", parsed.patience, "End if other shards keep this one waiting for so long")
        ->type_name("SECONDS")
        ->check(CLI::PositiveNumber)
        ->needs(shard);
    command.add_option("--trace", parsed.trace, "Write a Chrome trace (chrome://tracing, Perfetto)")->type_name("FILE");
}

void addVerify(CLI::App& app, Parsed& parsed)
{
    CLI::App& command = addCommand(app, parsed, "verify", "Compare the split model with its own forward",
                                   "  hopscope-engine verify model.pt --data graph.safetensors\n");
    addModel(command, parsed, true);
    parsed.settings.add(command, base::Task::Verify);
    addPlanSource(command, parsed);
    command.add_option("--schema", parsed.schema, "Verify this exported folder again, by its own plan")
        ->type_name("DIR")
        ->excludes("--plan")
        ->excludes("--strategy");
}

void addExport(CLI::App& app, Parsed& parsed)
{
    CLI::App& command = addCommand(app, parsed, "export", "Write the verified split as code for use in other programs",
                                   "  hopscope-engine export model.pt --data graph.safetensors -o exported\n"
                                   "  python exported/run.py --data graph.safetensors -o results\n");
    addModel(command, parsed, true);
    parsed.exportSettings.add(command, base::Task::Export);
    addPlanSource(command, parsed);
    command.add_option("-o,--output", parsed.output, "Folder to create")->type_name("DIR")->required();
}

void addDiff(CLI::App& app, Parsed& parsed)
{
    CLI::App& command = addCommand(app, parsed, "diff", "Compare two exported splits",
                                   "  hopscope-engine diff exported-before exported-now\n");
    command.add_option("A", parsed.a, "An exported folder, or its schema.json")->required();
    command.add_option("B", parsed.b, "Another one")->required();
}

void addGenerate(CLI::App& app, Parsed& parsed)
{
    CLI::App& command = addCommand(
        app, parsed, "generate", "Write a random graph with features",
        "  hopscope-engine generate rmat --nodes 1000000 --edges 16000000 --features 100 -o graph.safetensors\n");
    graph::GenerateOptions& options = parsed.generate;
    command.add_option("KIND", parsed.texts.kind, "rmat, sbm, grid, star, path or er")->required();
    command.add_option("--nodes", options.nodes, "Number of nodes")->type_name("N")->required();
    command.add_option("--edges", options.edges, "Number of edges (rmat, sbm, er)")->type_name("M");
    command.add_option("--features", options.features, "Number of features (columns of x)")
        ->type_name("F")
        ->capture_default_str();
    command.add_option("--seed", options.seed, "Random seed")->type_name("S")->capture_default_str();
    command.add_flag("--symmetric", options.symmetric, "Add the reverse of each edge; no self-loops, no duplicates");
    command.add_option("-o,--output", parsed.output, "Output file (.safetensors)")->type_name("FILE")->required();
}

void addBench(CLI::App& app, Parsed& parsed)
{
    CLI::App* const bench = app.add_subcommand("bench", "Measure this machine");
    bench->require_subcommand(1);
    CLI::App& machine = addCommand(*bench, parsed, "machine", "Measure the rates of this machine; later plans use them",
                                   "  hopscope-engine bench machine\n"
                                   "  hopscope-engine bench machine --device cuda\n");
    machine.add_option("--device", parsed.machine.device, "auto, cpu, cuda or cuda:N; else the CPU and every GPU");
}

void addReceptiveField(CLI::App& app, Parsed& parsed)
{
    CLI::App& command = addCommand(app, parsed, "receptive-field",
                                   "Show which nodes and edges the result of one node depends on", fieldExamples);
    addModel(command, parsed, true);
    addFieldOptions(command, parsed.field);
}

void addDebug(CLI::App& app, Parsed& parsed)
{
    CLI::App& command = addCommand(app, parsed, "debug", "Find the operator at which numbers go wrong", debugExamples);
    addModel(command, parsed, true);
    addDebugOptions(command, parsed.debug);
}

void addDevices(CLI::App& app, Parsed& parsed)
{
    addCommand(app, parsed, "devices", "List usable devices, and why others cannot be used",
               "  hopscope-engine devices\n");
}

void addTrust(CLI::App& app, Parsed& parsed)
{
    addTrustOptions(addCommand(app, parsed, "trust", "Agree to run the code of model files, or list what you agreed to",
                               "  hopscope-engine trust model.pt\n"
                               "  hopscope-engine trust ~/models --remove\n"),
                    parsed.trust);
}

void addServers(CLI::App& app, Parsed& parsed)
{
    const std::string serve =
        "Serve the window on standard input and output (JSON-RPC, see docs/reference/protocol.md)";
    addSandbox(*app.add_subcommand("serve", serve), parsed.noSandbox);
    const std::string worker =
        "Compute shards that another program deals out (JSON-RPC, see docs/reference/protocol.md)";
    addSandbox(*app.add_subcommand("worker", worker), parsed.noSandbox);
}

void addOracle(CLI::App& app, Parsed& parsed)
{
    CLI::App* const command = app.add_subcommand("oracle", "The child process of a verification");
    command->group("");
    command->add_option("REQUEST", parsed.request)->required();
}

void onePerOption(CLI::App& command)
{
    for (const char* const name : {"--data", "--role"})
        if (CLI::Option* const option = command.get_option_no_throw(name)) option->allow_extra_args(false);
}

std::string exitCodes()
{
    std::string text = "\nExit codes: 0 success";
    for (const base::Failure& each : base::failures)
        text += ", " + std::to_string(static_cast<int>(each.code)) + " " + each.summary;
    return text + ".";
}

void setUp(CLI::App& app, Parsed& parsed)
{
    app.name("hopscope-engine");
    app.require_subcommand(1);
    app.set_version_flag("--version", std::string("hopscope-engine ") + versionText);
    app.footer(exitCodes());
    for (auto* const add : {addInspect, addPlan, addRun, addVerify, addExport, addDiff, addGenerate, addBench,
                            addReceptiveField, addDebug, addDevices, addTrust, addServers, addOracle})
        add(app, parsed);
    // One value per --data and --role, so that MODEL may follow them.
    for (CLI::App* const command : app.get_subcommands({})) onePerOption(*command);
}

base::Result<Command> finishRun(const Parsed& parsed, const base::Settings& settings)
{
    base::Result<std::optional<pipeline::ShardOptions>> shard = parseShard(parsed.texts.shard);
    if (!shard) return base::forward(shard);
    if (*shard) (*shard)->patience = parsed.patience;
    return RunCommand{{.model = parsed.model, .plan = parsed.plan, .settings = settings, .shard = *shard},
                      parsed.output,
                      parsed.trace};
}

base::Result<Command> finishVerify(const Parsed& parsed, const base::Settings& settings)
{
    if (settings.verify == base::VerifyMode::None)
        return base::fail(base::ErrorCode::Usage, "verify has nothing to compare with --verify none",
                          "use full or sample");
    return VerifyCommand{.model = parsed.model, .plan = parsed.plan, .settings = settings, .schema = parsed.schema};
}

base::Result<Command> finishGenerate(Parsed& parsed)
{
    const base::Result<graph::GraphKind> kind = graph::parseGraphKind(parsed.texts.kind);
    if (!kind) return base::forward(kind);
    parsed.generate.kind = *kind;
    return GenerateCommand{parsed.generate, parsed.output};
}

base::Result<Command> finish(const std::string& name, Parsed& parsed)
{
    const base::Result<base::Settings> settings = (name == "export" ? parsed.exportSettings : parsed.settings).read();
    if (!settings) return base::forward(settings);
    parsed.model.reassociate = settings->reassociate;
    if (name == "inspect") return InspectCommand{parsed.model};
    if (name == "plan")
        return PlanCommand{.model = parsed.model,
                           .plan = parsed.plan,
                           .settings = *settings,
                           .output = parsed.output,
                           .explain = parsed.told.explain,
                           .steps = parsed.told.steps};
    if (name == "run") return finishRun(parsed, *settings);
    if (name == "verify") return finishVerify(parsed, *settings);
    if (name == "diff") return DiffCommand{parsed.a, parsed.b};
    if (name == "export")
        return ExportCommand{.model = parsed.model,
                             .plan = parsed.plan,
                             .settings = *settings,
                             .folder = parsed.output,
                             .tool = std::string("hopscope ") + versionText};
    if (name == "generate") return finishGenerate(parsed);
    if (name == "bench") return parsed.machine;
    if (name == "receptive-field") return ReceptiveFieldCommand{parsed.model, parsed.field};
    if (name == "debug") return debugCommand(parsed.model, parsed.debug);
    if (name == "devices") return DevicesCommand{};
    if (name == "trust") return parsed.trust;
    if (name == "serve") return ServeCommand{};
    if (name == "worker") return WorkerCommand{};
    return OracleCommand{parsed.request};
}

}  // namespace

base::Result<Invocation> parseArguments(int count, const char* const* arguments)
{
    Parsed parsed;
    CLI::App app(
        "Layer-wise inference for graph neural networks, derived from the model file and verified against it.");
    setUp(app, parsed);
    base::Result<Command> command = ShowText{};
    try {
        app.parse(count, arguments);
        command = finish(app.get_subcommands().front()->get_name(), parsed);
    } catch (const CLI::ParseError& error) {
        command = explained(app, error, count, arguments).map([](const std::string& text) { return ShowText{text}; });
    }
    if (!command) return base::forward(command);
    return Invocation{
        .json = parsed.json, .quiet = parsed.quiet, .sandbox = !parsed.noSandbox, .command = std::move(*command)};
}

bool wantsJson(int count, const char* const* arguments)
{
    for (int i = 1; i < count; ++i)
        if (std::string_view(arguments[i]) == "--json") return true;
    return false;
}

}  // namespace hopscope::engine
