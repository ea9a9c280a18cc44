#include "cli/study_options.h"

#include <CLI/CLI.hpp>

#include "cli/command_tree.h"
#include "cli/option_values.h"

namespace hopscope::engine {

const char* const fieldExamples =
    "hopscope-engine receptive-field model.pt --data graph.safetensors --node 17\n"
    "hopscope-engine receptive-field model.pt --data graph.safetensors --random --seed 3 --json";

void addFieldOptions(CLI::App& command, receptive::Request& request)
{
    startGroup(command, "Node");
    CLI::Option* const node =
        command.add_option("--node", request.node, "Row number of the node, from 0")->type_name("N");
    command
        .add_flag_callback(
            "--random", [] {}, "Choose a random node by --seed; the default without --node")
        ->excludes(node);
    command.add_option("--type", request.table, "Table of the node, if the outputs have rows of several tables")
        ->type_name("TABLE");
    command.add_option("--seed", request.seed, "Seed of the random node and of the sample of nodes")
        ->type_name("SEED")
        ->capture_default_str();
    startGroup(command, "Output");
    command
        .add_option("--ids", request.idsFile,
                    "Write the row numbers of all nodes and edges of the receptive field to this .safetensors file")
        ->type_name("FILE");
}

const char* const debugExamples =
    "hopscope-engine debug model.pt --data graph.safetensors\n"
    "hopscope-engine debug before.pt --data graph.safetensors --against after.pt\n"
    "hopscope-engine debug model.pt --data graph.safetensors --nan\n"
    "hopscope-engine debug model.pt --data graph.safetensors --break convs.1 --when isnan\n"
    "hopscope-engine debug model.pt --data graph.safetensors --watch convs.1 --nodes 1,17 -o rows\n"
    "hopscope-engine debug model.pt --data graph.safetensors --show op45 --batch-of 17 -o op45.npy\n"
    "hopscope-engine debug model.pt --data graph.safetensors --memory-of 2 --batch 4096";

namespace {

void addBreakpoints(CLI::App& command, DebugTexts& texts)
{
    command
        .add_option(
            "--break", texts.breakpoints,
            "Describe the results of an operator (op42), a value, a kind (aten::relu), a module or 'stage 2'; may "
            "be repeated")
        ->type_name("PLACE")
        ->allow_extra_args(false);
    CLI::Option* const when = command.add_option(
        "--when", texts.when, "With --break: always, isnan (NaN or infinite), outside=LEAST,MOST or node=N");
    propose(*when->type_name("CONDITION")->capture_default_str(), {"always", "isnan", "outside=", "node="});
    command.add_option("--hits", texts.hits, "With --break: maximum number of results to describe")
        ->type_name("N")
        ->capture_default_str();
}

void addFindings(CLI::App& command, DebugTexts& texts)
{
    startGroup(command, "Findings");
    command.add_option("--against", texts.against, "Compare with this model, operator by operator")->type_name("MODEL");
    command.add_option("--absolute", texts.absolute, "Absolute tolerance of a comparison")
        ->type_name("NUMBER")
        ->capture_default_str();
    command.add_option("--relative", texts.relative, "Relative tolerance of a comparison")
        ->type_name("NUMBER")
        ->capture_default_str();
    command.add_flag("--nan", texts.nan, "Find the operators that produce NaN or infinity")->excludes("--against");
    addBreakpoints(command, texts);
    command
        .add_option("--memory-of", texts.memoryOf, "Show the live values at each step of this stage, and their sizes")
        ->type_name("STAGE")
        ->excludes("--against")
        ->excludes("--nan")
        ->excludes("--break");
}

void addShow(CLI::App& command, DebugTexts& texts)
{
    CLI::Option* const show =
        command
            .add_option("--show", texts.show, "Show the tensor of an operator (op42), a value, an input or a weight")
            ->type_name("PLACE")
            ->excludes("--against")
            ->excludes("--nan")
            ->excludes("--break")
            ->excludes("--memory-of");
    command.add_option("--rows", texts.rows, "With --show: rows A to B, B excluded")->type_name("A:B")->needs(show);
    command.add_option("--batch-of", texts.batchOf, "With --show: only the batch that computes this node")
        ->type_name("N")
        ->needs(show);
}

void addWatches(CLI::App& command, DebugTexts& texts)
{
    CLI::Option* const watched = command
                                     .add_option("--watch", texts.values,
                                                 "Record the rows of --nodes in the results of an operator, a value, a "
                                                 "kind or a module; may be repeated")
                                     ->type_name("PLACE")
                                     ->allow_extra_args(false);
    CLI::Option* const nodes =
        command.add_option("--nodes", texts.nodes, "Nodes whose rows are recorded or shown: 1,2,3")->type_name("LIST");
    command
        .add_option("--messages", texts.aggregations,
                    "Show the contribution of each neighbour to an aggregation at --nodes, the largest first; may be "
                    "repeated")
        ->type_name("PLACE")
        ->allow_extra_args(false)
        ->needs(nodes);
    startGroup(command, "Output");
    CLI::Option* const output =
        command
            .add_option("-o,--output", texts.output, "Folder for the recorded rows (.npy), or the .npy file of --show")
            ->type_name("PATH");
    watched->needs(nodes)->needs(output);
}

}  // namespace

void addDebugOptions(CLI::App& command, DebugTexts& texts)
{
    addFindings(command, texts);
    startGroup(command, "Tensors");
    addShow(command, texts);
    addWatches(command, texts);
    startGroup(command, base::nameOf(base::Group::Execution));
    command.add_option("--plan", texts.plan, "Use the plan in this file instead of the depth heuristic")
        ->type_name("FILE")
        ->excludes("--against");
    command.add_option("--batch", texts.batch, "Destination nodes per batch")->type_name("N")->excludes("--against");
}

namespace {

// "1,2,3".
base::Result<std::vector<double>> numbersOf(const std::string& text, const char* option)
{
    std::vector<double> numbers;
    if (text.empty()) return numbers;
    for (const std::string& part : CLI::detail::split(text, ',')) {
        double number = 0;
        if (!CLI::detail::lexical_cast(part, number))
            return base::fail(base::ErrorCode::Usage, std::string(option) + ": '" + part + "' is not a number");
        numbers.push_back(number);
    }
    return numbers;
}

base::Result<debugger::Breakpoint> conditionOf(const std::string& text)
{
    if (text == "always") return debugger::Breakpoint{};
    if (text == "isnan") return debugger::Breakpoint{.place = {}, .condition = debugger::Condition::NotFinite};
    const std::size_t equals = text.find('=');
    const std::string kind = text.substr(0, equals);
    const auto numbers = numbersOf(equals == std::string::npos ? "" : text.substr(equals + 1), "--when");
    if (kind == "outside" && numbers && numbers->size() == 2)
        return debugger::Breakpoint{.place = {},
                                    .condition = debugger::Condition::OutsideRange,
                                    .least = numbers->at(0),
                                    .most = numbers->at(1),
                                    .node = -1};
    if (kind == "node" && numbers && numbers->size() == 1)
        return debugger::Breakpoint{.place = {},
                                    .condition = debugger::Condition::Node,
                                    .least = 0,
                                    .most = 0,
                                    .node = static_cast<std::int64_t>(numbers->at(0))};
    return base::fail(base::ErrorCode::Usage, "--when: '" + text + "' is not a condition",
                      "use always, isnan, outside=LEAST,MOST or node=N");
}

// "100:200".
base::Result<std::pair<std::int64_t, std::int64_t>> rowsFrom(const std::string& text)
{
    const std::vector<std::string> parts = CLI::detail::split(text, ':');
    std::pair<std::int64_t, std::int64_t> rows;
    const bool fine = parts.size() == 2 && CLI::detail::lexical_cast(parts[0], rows.first) &&
                      CLI::detail::lexical_cast(parts[1], rows.second);
    if (fine && rows.first >= 0 && rows.first < rows.second) return rows;
    return base::fail(base::ErrorCode::Usage, "--rows: '" + text + "' is not a range A:B with 0 <= A < B");
}

}  // namespace

base::Result<Command> debugCommand(const pipeline::ModelOptions& model, const DebugTexts& texts)
{
    DebugCommand command{.model = model, .options = {}, .nan = texts.nan, .request = {}, .show = {}, .memoryOf = {}};
    command.options.plan.file = texts.plan;
    command.options.against = texts.against;
    command.options.tolerance.absolute = texts.absolute;
    command.options.tolerance.relative = texts.relative;
    const base::Status batch = base::readSettingText(texts.batch, {.option = "--batch"}, command.options.batch);
    if (!batch) return base::forward(batch);
    const auto condition = conditionOf(texts.when);
    if (!condition) return base::forward(condition);
    for (const std::string& place : texts.breakpoints) {
        command.request.breakpoints.push_back(*condition);
        command.request.breakpoints.back().place = place;
    }
    const auto nodes = numbersOf(texts.nodes, "--nodes");
    if (!nodes) return base::forward(nodes);
    for (const double node : *nodes) command.request.nodes.push_back(static_cast<std::int64_t>(node));
    command.request.hits = texts.hits;
    command.request.values = texts.values;
    command.request.output = texts.output;
    command.request.aggregations = texts.aggregations;
    command.show.place = texts.show;
    command.show.nodes = command.request.nodes;
    command.show.batchOf = texts.batchOf;
    command.memoryOf = texts.memoryOf;
    if (texts.rows.empty()) return command;
    const auto rows = rowsFrom(texts.rows);
    if (!rows) return base::forward(rows);
    command.show.rows = *rows;
    return command;
}

}  // namespace hopscope::engine
