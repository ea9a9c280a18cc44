#include "cli/arguments.h"

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>

#include "analysis/roles/roles.h"
#include "cli/completion.h"
#include "cli/help.h"
#include "cli/manual.h"
#include "cli/misspelt.h"
#include "cli/option_values.h"
#include "cli/plan_options.h"
#include "cli/setting_options.h"
#include "cli/study_options.h"
#include "graph/formats.h"
#include "version.h"

namespace hopscope::engine {

namespace {

// Options that are read as text and converted after parsing.
struct Texts {
    std::string kind, shard, shell, manual;
};

// Everything that the parser fills in. One instance lives as long as the parser.
struct Parsed {
    bool json = false, quiet = false, verbose = false, noSandbox = false;
    Texts texts;
    std::vector<std::string> positionals;
    pipeline::ModelOptions model;
    pipeline::PlanSource plan;
    SettingOptions settings, exportSettings{base::usualFor(base::Task::Export)};
    std::string output, trace, request, schema, against, a, b;
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
    CLI::Option* const quiet =
        app.add_flag("-q,--quiet", parsed.quiet, "Suppress progress and notes; run shows only verdict and warnings");
    app.add_flag("-v,--verbose", parsed.verbose, "Print minor notes, and the phases of a run")->excludes(quiet);
    addSandbox(app, parsed.noSandbox);
}

void addModel(CLI::App& app, Parsed& parsed, bool dataRequired)
{
    startGroup(app, base::nameOf(base::Group::Inputs));
    app.add_option("MODEL", parsed.model.model, "TorchScript file (.pt) or exported program (.pt2)")->required();
    CLI::Option* const data =
        app.add_option("--data", parsed.model.data, "Inputs of the model: " + graph::dataForms() + "; may be repeated");
    data->type_name("DATA")->required(dataRequired);
    app.add_option("--role", parsed.model.roles,
                   "Role of an input: NAME=" + analysis::listRoles() + "; may be repeated")
        ->type_name("ROLE");
    addTrusted(app, parsed.model);
}

CLI::Option* addPins(CLI::App& app, Parsed& parsed)
{
    startGroup(app, base::nameOf(base::Group::Plan));
    return app.add_option("--pins", parsed.plan.pins, "Decisions that the plan must respect: {\"pins\": [..]}")
        ->type_name("FILE");
}

// For an option that names a plan: the settings of a search would be ignored.
void excludeSearch(CLI::App& app, CLI::Option& option)
{
    base::forEachField<base::Settings>([&](const auto& setting) {
        if (setting.ofSearch) option.excludes(app.get_option(base::optionOf(setting.name)));
    });
}

// The options that make a plan, apart from the settings, or read it from a file.
void addPlanSource(CLI::App& app, Parsed& parsed)
{
    CLI::Option* const pins = addPins(app, parsed);
    CLI::Option* const file = app.add_option("--plan", parsed.plan.file,
                                             "Use the plan in this file; excludes the other options of this group")
                                  ->type_name("FILE");
    pins->excludes(file);
    excludeSearch(app, *file);
}

CLI::Option& addOutput(CLI::App& app, Parsed& parsed, const char* type, const char* text)
{
    startGroup(app, "Output");
    return *app.add_option("-o,--output", parsed.output, text)->type_name(type);
}

// `examples`: a line each.
CLI::App& addCommand(CLI::App& app, const char* name, const char* text, const char* examples)
{
    CLI::App* const command = app.add_subcommand(name, text);
    command->footer(examples);
    return *command;
}

CLI::App& addCommand(CLI::App& app, Parsed& parsed, const char* name, const char* text, const char* examples)
{
    CLI::App& command = addCommand(app, name, text, examples);
    addOutputFlags(command, parsed);
    return command;
}

void addInspect(CLI::App& app, Parsed& parsed)
{
    CLI::App& command =
        addCommand(app, parsed, "inspect", "Show the structure of a model: depth, stages, stored values",
                   "hopscope-engine inspect model.pt\n"
                   "hopscope-engine inspect model.pt --data graph.safetensors --json");
    addModel(command, parsed, false);
}

void addPlan(CLI::App& app, Parsed& parsed)
{
    CLI::App& command = addCommand(app, parsed, "plan", "Choose the stage of each operator, and the values to store",
                                   "hopscope-engine plan model.pt --data graph.safetensors -o plan.json");
    addModel(command, parsed, true);
    parsed.settings.add(command, base::Task::Plan);
    addPins(command, parsed);
    addOutput(command, parsed, "FILE", "Write the plan to this file");
    addPlanOptions(command, parsed.told);
}

void addShards(CLI::App& command, Parsed& parsed)
{
    startGroup(command, base::nameOf(base::Group::LongRuns));
    CLI::Option* const shard =
        command
            .add_option("--shard", parsed.texts.shard,
                        "Compute part I of N; all N processes get the same DIR, and the last one publishes the results")
            ->type_name("I/N");
    command.add_option("--wait", parsed.patience, "Give up after waiting this long for the other shards")
        ->type_name("SECONDS")
        ->check(CLI::PositiveNumber.description(""))
        ->needs(shard);
}

void addRun(CLI::App& app, Parsed& parsed)
{
    CLI::App& command =
        addCommand(app, parsed, "run", "Evaluate a model for all nodes, stage by stage",
                   "hopscope-engine run model.pt --data graph.safetensors -o results\n"
                   "hopscope-engine run model.pt --data x=feat.npy --data edge_index=ei.npy -o results --memory 1Gi");
    addModel(command, parsed, true);
    parsed.settings.add(command, base::Task::Run);
    addPlanSource(command, parsed);
    addShards(command, parsed);
    addOutput(command, parsed, "DIR",
              "Folder for the outputs (out.npy, or a file for each) and the report (report.json)")
        .required();
    command.add_option("--trace", parsed.trace, "Write a Chrome trace (chrome://tracing, Perfetto)")->type_name("FILE");
}

void addVerify(CLI::App& app, Parsed& parsed)
{
    CLI::App& command =
        addCommand(app, parsed, "verify", "Compare the staged evaluation with the model's own forward, or two files",
                   "hopscope-engine verify model.pt --data graph.safetensors\n"
                   "hopscope-engine verify model.pt --data graph.safetensors --schema exported\n"
                   "hopscope-engine verify model.pt2 --data graph.safetensors --against model.pt");
    addModel(command, parsed, true);
    parsed.settings.add(command, base::Task::Verify);
    addPlanSource(command, parsed);
    startGroup(command, base::nameOf(base::Group::Verification));
    CLI::Option* const schema =
        command
            .add_option("--schema", parsed.schema,
                        "Verify this exported folder again: its code on a sample, its plan on the data")
            ->type_name("DIR")
            ->excludes("--plan")
            ->excludes("--pins");
    excludeSearch(command, *schema);
    command
        .add_option("--against", parsed.against,
                    "Compare all outputs with those of this model file instead, or with outputs in a " +
                        graph::listSuffixes({}, " file, a ") + " file or a folder of " +
                        graph::listSuffixes(graph::Holds::Array) + " files")
        ->type_name("PATH")
        ->excludes("--verify")
        ->excludes("--schema")
        ->excludes("--plan")
        ->excludes("--pins");
}

void addExport(CLI::App& app, Parsed& parsed)
{
    CLI::App& command = addCommand(app, parsed, "export", "Write the verified split as code for use in other programs",
                                   "hopscope-engine export model.pt --data graph.safetensors -o exported\n"
                                   "python exported/run.py --data graph.safetensors -o results");
    addModel(command, parsed, true);
    parsed.exportSettings.add(command, base::Task::Export);
    addPlanSource(command, parsed);
    addOutput(command, parsed, "DIR", "Folder to create").required();
}

void addDiff(CLI::App& app, Parsed& parsed)
{
    CLI::App& command = addCommand(app, parsed, "diff", "List the differences between two exported folders",
                                   "hopscope-engine diff exported-before exported-now");
    startGroup(command, base::nameOf(base::Group::Inputs));
    command.add_option("A", parsed.a, "An exported folder, or its schema.json")->required();
    command.add_option("B", parsed.b, "The other one")->required();
}

void addGenerate(CLI::App& app, Parsed& parsed)
{
    CLI::App& command = addCommand(
        app, parsed, "generate", "Generate a graph with random features",
        "hopscope-engine generate rmat --nodes 1000000 --edges 16000000 --features 100 -o graph.safetensors");
    graph::GenerateOptions& options = parsed.generate;
    startGroup(command, "Graph");
    CLI::Option* const kind =
        command.add_option("KIND", parsed.texts.kind, "Kind of graph: " + base::listNames<graph::GraphKind>());
    propose<graph::GraphKind>(*kind->required());
    command.add_option("--nodes", options.nodes, "Number of nodes")->type_name("N")->required();
    command.add_option("--edges", options.edges, "Number of edges (rmat, sbm, er)")->type_name("N");
    command.add_option("--features", options.features, "Number of features (columns of x)")
        ->type_name("N")
        ->capture_default_str();
    command.add_option("--seed", options.seed, "Random seed")->type_name("SEED")->capture_default_str();
    command.add_flag("--symmetric", options.symmetric,
                     "Both directions of each edge, which --edges counts; no self-loops, no duplicates");
    addOutput(command, parsed, "FILE", "Output file (.safetensors)").required();
}

void addBench(CLI::App& app, Parsed& parsed)
{
    CLI::App& bench = addCommand(app, "bench", "Measure this machine", "hopscope-engine bench machine");
    bench.require_subcommand(1);
    CLI::App& machine = addCommand(bench, parsed, "machine", "Measure the rates of this machine; later plans use them",
                                   "hopscope-engine bench machine\n"
                                   "hopscope-engine bench machine --device cuda");
    startGroup(machine, base::nameOf(base::Group::Execution));
    CLI::Option* const device = machine.add_option(
        "--device", parsed.machine.device,
        "Device to measure: auto, cpu, cuda, cuda:N, or several GPUs; without it the CPU and every GPU");
    proposeDevices(*device->type_name("DEVICE"));
}

void addReceptiveField(CLI::App& app, Parsed& parsed)
{
    CLI::App& command = addCommand(app, parsed, "receptive-field",
                                   "Show the nodes and edges that the output of one node depends on", fieldExamples);
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
    addCommand(app, parsed, "devices", "List the usable devices, and why others cannot be used",
               "hopscope-engine devices");
}

void addTrust(CLI::App& app, Parsed& parsed)
{
    addTrustOptions(addCommand(app, parsed, "trust",
                               "Agree to run the code of model files; list or withdraw agreements",
                               "hopscope-engine trust model.pt\n"
                               "hopscope-engine trust ~/models --remove"),
                    parsed.trust);
}

void addServers(CLI::App& app, Parsed& parsed)
{
    addSandbox(addCommand(app, "serve", "Answer requests of the window or Python on standard input (JSON-RPC)",
                          "hopscope --engine \"ssh host hopscope-engine serve\""),
               parsed.noSandbox);
    addSandbox(addCommand(app, "worker", "Compute the shards that another program assigns on standard input (JSON-RPC)",
                          "ssh host hopscope-engine worker"),
               parsed.noSandbox);
}

void addCompletion(CLI::App& app, Parsed& parsed)
{
    CLI::App& command = addCommand(app, "completion", "Print a script that completes commands, options and values",
                                   "source <(hopscope-engine completion bash)\n"
                                   "hopscope-engine completion fish > ~/.config/fish/completions/hopscope-engine.fish");
    startGroup(command, base::nameOf(base::Group::Inputs));
    propose<Shell>(*command.add_option("SHELL", parsed.texts.shell, "Shell: " + base::listNames<Shell>())->required());
}

// Hidden: the man page for the installation, and the reference page.
void addManual(CLI::App& app, Parsed& parsed)
{
    CLI::App* const command = app.add_subcommand("manual", "Print a description of all commands");
    command->group("");
    command->add_option("FORM", parsed.texts.manual)->required();
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

void setUp(CLI::App& app, Parsed& parsed)
{
    app.name("hopscope-engine");
    app.require_subcommand(1);
    app.set_help_flag("-h,--help", "Print this help");
    app.set_version_flag("--version", std::string("hopscope-engine ") + versionText,
                         "Print the versions of Hopscope and torch, the commit and the features");
    app.footer("hopscope-engine inspect model.pt\n"
               "hopscope-engine run model.pt --data graph.safetensors -o results --verify full\n"
               "hopscope-engine run --help");
    app.formatter_fn([](const CLI::App* command, const std::string&, CLI::AppFormatMode) {
        return helpText(commandText(*command));
    });
    for (auto* const add :
         {addInspect, addPlan, addRun, addVerify, addExport, addDiff, addGenerate, addBench, addReceptiveField,
          addDebug, addDevices, addTrust, addCompletion, addServers, addManual, addOracle})
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
    return VerifyCommand{.model = parsed.model,
                         .plan = parsed.plan,
                         .settings = settings,
                         .schema = parsed.schema,
                         .against = parsed.against};
}

base::Result<Command> finishGenerate(Parsed& parsed)
{
    const base::Result<graph::GraphKind> kind = graph::parseGraphKind(parsed.texts.kind);
    if (!kind) return base::forward(kind);
    parsed.generate.kind = *kind;
    return GenerateCommand{parsed.generate, parsed.output};
}

base::Result<Command> finishCompletion(const CLI::App& app, const std::string& shell)
{
    const base::Result<Shell> chosen = base::parseName<Shell>(shell, "shell");
    if (!chosen) return base::forward(chosen);
    return ShowText{completionScript(commandText(app), *chosen)};
}

base::Result<Command> finishManual(const CLI::App& app, const std::string& form)
{
    const base::Result<Manual> chosen = base::parseName<Manual>(form, "form");
    if (!chosen) return base::forward(chosen);
    return ShowText{manualText(commandText(app), *chosen)};
}

base::Result<Command> finish(const CLI::App& app, Parsed& parsed)
{
    const std::string name = app.get_subcommands().front()->get_name();
    if (name == "completion") return finishCompletion(app, parsed.texts.shell);
    if (name == "manual") return finishManual(app, parsed.texts.manual);
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
        command = finish(app, parsed);
    } catch (const CLI::ParseError& error) {
        command = explained(app, error, count, arguments).map([](const std::string& text) { return ShowText{text}; });
    }
    if (!command) return base::forward(command);
    return Invocation{.json = parsed.json,
                      .quiet = parsed.quiet,
                      .verbose = parsed.verbose,
                      .sandbox = !parsed.noSandbox,
                      .command = std::move(*command)};
}

bool wantsJson(int count, const char* const* arguments)
{
    for (int i = 1; i < count; ++i)
        if (std::string_view(arguments[i]) == "--json") return true;
    return false;
}

}  // namespace hopscope::engine
