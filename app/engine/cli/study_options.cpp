#include "cli/study_options.h"

#include <CLI/CLI.hpp>
#include <array>
#include <charconv>
#include <type_traits>

#include "cli/command_tree.h"

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
    CLI::Option* const breaks =
        command
            .add_option(
                "--break", texts.breakpoints,
                "Describe the results of an operator (op42), a value, a kind (aten::relu), a module or 'stage 2'; may "
                "be repeated")
            ->type_name("PLACE")
            ->allow_extra_args(false);
    CLI::Option* const when = command.add_option(
        "--when", texts.when, "With --break: always, isnan (NaN or infinite), outside=LEAST,MOST or node=N");
    propose(*when->type_name("CONDITION")->capture_default_str()->needs(breaks),
            {"always", "isnan", "outside=", "node="});
    command.add_option("--hits", texts.hits, "With --break: maximum number of results to describe")
        ->type_name("N")
        ->capture_default_str()
        ->needs(breaks);
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
    command.add_flag("--nan", texts.nan, "Find the operators that produce NaN or infinity");
    addBreakpoints(command, texts);
    command
        .add_option("--memory-of", texts.memoryOf, "Show the live values at each step of this stage, and their sizes")
        ->type_name("STAGE");
}

void addShow(CLI::App& command, DebugTexts& texts)
{
    CLI::Option* const show =
        command
            .add_option("--show", texts.show, "Show the tensor of an operator (op42), a value, an input or a weight")
            ->type_name("PLACE");
    command.add_option("--rows", texts.rows, "With --show: rows A to B, B excluded")->type_name("A:B")->needs(show);
    command
        .add_option(
            "--batch-of", texts.batchOf,
            "With --show: only the batch that computes this node; without effect on values that no batch computes")
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

// The first four each print a document of their own. Two models are compared without a plan.
void excludeIgnored(CLI::App& command)
{
    const std::array options{"--against", "--nan", "--memory-of", "--show", "--break", "--watch", "--messages"};
    for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t other = i + 1; other < options.size(); ++other)
            command.get_option(options[i])->excludes(options[other]);
    command.get_option("--against")->excludes("--plan")->excludes("--batch");
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
        ->type_name("FILE");
    command.add_option("--batch", texts.batch, "Destination nodes per batch")->type_name("N");
    excludeIgnored(command);
}

namespace {

bool readNumber(const std::string& text, double& number) { return CLI::detail::lexical_cast(text, number); }

// A row number.
bool readNumber(const std::string& text, std::int64_t& number)
{
    const char* const end = text.data() + text.size();
    const auto [stop, problem] = std::from_chars(text.data(), end, number);
    return problem == std::errc() && stop == end && number >= 0;
}

// "1,2,3".
template <class T>
base::Result<std::vector<T>> numbersOf(const std::string& text, const std::string& option)
{
    std::vector<T> numbers;
    if (text.empty()) return numbers;
    for (const std::string& part : CLI::detail::split(text, ',')) {
        T number{};
        if (!readNumber(CLI::detail::trim_copy(part), number))
            return base::fail(base::ErrorCode::Usage,
                              option + ": '" + part + "' is not " +
                                  (std::is_integral_v<T> ? "a row number, a whole number from 0" : "a number"));
        numbers.push_back(number);
    }
    return numbers;
}

tl::unexpected<base::Error> noCondition(const std::string& text)
{
    return base::fail(base::ErrorCode::Usage, "--when: '" + text + "' is not a condition",
                      "use always, isnan, outside=LEAST,MOST or node=N");
}

// "outside=-1,1".
base::Result<debugger::Breakpoint> outsideFrom(const std::string& text)
{
    const auto range = numbersOf<double>(text.substr(text.find('=') + 1), "--when");
    if (!range) return base::forward(range);
    if (range->size() != 2) return noCondition(text);
    return debugger::Breakpoint{.place = {},
                                .condition = debugger::Condition::OutsideRange,
                                .least = range->at(0),
                                .most = range->at(1),
                                .node = -1};
}

// "node=17".
base::Result<debugger::Breakpoint> nodeFrom(const std::string& text)
{
    const auto nodes = numbersOf<std::int64_t>(text.substr(text.find('=') + 1), "--when");
    if (!nodes) return base::forward(nodes);
    if (nodes->size() != 1) return noCondition(text);
    return debugger::Breakpoint{
        .place = {}, .condition = debugger::Condition::Node, .least = 0, .most = 0, .node = nodes->front()};
}

base::Result<debugger::Breakpoint> conditionOf(const std::string& text)
{
    if (text == "always") return debugger::Breakpoint{};
    if (text == "isnan") return debugger::Breakpoint{.place = {}, .condition = debugger::Condition::NotFinite};
    if (text.starts_with("outside=")) return outsideFrom(text);
    if (text.starts_with("node=")) return nodeFrom(text);
    return noCondition(text);
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
    const auto nodes = numbersOf<std::int64_t>(texts.nodes, "--nodes");
    if (!nodes) return base::forward(nodes);
    command.request.nodes = *nodes;
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
