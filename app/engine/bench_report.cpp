#include "bench_report.h"

#include <array>
#include <cstdio>

#include "base/units.h"
#include "describe.h"
#include "json/json.h"

namespace hopscope::engine {

namespace {

using json::Value;

std::vector<std::pair<const char*, double>> phasesOf(const schema::PhaseRecord& p)
{
    return {{"block", p.block},     {"gather", p.gather}, {"h2d", p.h2d},
            {"compute", p.compute}, {"d2h", p.d2h},       {"write", p.write}};
}

schema::PhaseRecord sum(const std::vector<schema::StageRecord>& stages)
{
    schema::PhaseRecord total;
    for (const schema::StageRecord& stage : stages) {
        const schema::PhaseRecord& p = stage.phases;
        total = {total.block + p.block,     total.gather + p.gather, total.h2d + p.h2d,
                 total.compute + p.compute, total.d2h + p.d2h,       total.write + p.write};
    }
    return total;
}

// Of the time that the phases account for.
Value shares(const schema::PhaseRecord& phases)
{
    double whole = 0;
    for (const auto& [name, seconds] : phasesOf(phases)) whole += seconds;
    Value object = Value::object();
    for (const auto& [name, seconds] : phasesOf(phases)) object[name] = whole > 0 ? seconds / whole : 0.0;
    return object;
}

Value stageJson(const schema::StageRecord& stage)
{
    Value object;
    object["index"] = stage.index;
    object["seconds"] = stage.seconds;
    for (const auto& [name, seconds] : phasesOf(stage.phases)) object["phases"][name] = seconds;
    object["shares"] = shares(stage.phases);
    object["batches"] = stage.batches;
    object["smallest_batch"] = stage.smallestBatch;
    object["largest_batch"] = stage.largestBatch;
    object["frontier_rows"] = stage.frontierRows;
    object["back_offs"] = stage.backOffs;
    object["bytes"]["h2d"] = stage.bytes.h2d;
    object["bytes"]["d2h"] = stage.bytes.d2h;
    object["bytes"]["structure"] = stage.bytes.structure;
    object["overlap"] = stage.overlap ? Value(*stage.overlap) : Value();
    object["peak_memory"] = stage.peakMemory;
    return object;
}

Value tensorJson(const schema::TensorRecord& error)
{
    Value object;
    object["name"] = error.name;
    object["max_abs"] = error.maxAbsolute;
    object["max_rel"] = error.maxRelative;
    object["rows"] = error.rows;
    object["different"] = error.different;
    return object;
}

Value verdictJson(const schema::Verification& verdict)
{
    Value object;
    object["verdict"] = verdict.verdict;
    object["reason"] = verdict.reason;
    object["seconds"] = verdict.seconds;
    Value& coverage = object["coverage"];
    coverage["method"] = verdict.coverage.method;
    coverage["rows"] = verdict.coverage.rows;
    coverage["chosen"] = verdict.coverage.chosen;
    coverage["skipped"] = verdict.coverage.skipped;
    coverage["with_in_edges"] = verdict.coverage.withInEdges;
    coverage["hops"] = verdict.coverage.hops;
    object["outputs"] = Value::array();
    for (const schema::TensorRecord& error : verdict.outputs) object["outputs"].push(tensorJson(error));
    return object;
}

Value referenceJson(const BenchReference& reference)
{
    Value object = tensorJson(reference.error);
    object["verdict"] = reference.equal ? "equal" : "different";
    object["seconds"] = reference.seconds;
    object["peak_memory"] = reference.peakMemory;
    return object;
}

double perSecond(double count, double seconds) { return seconds > 0 ? count / seconds : 0; }

double edgeRate(const BenchRunOptions& options, const BenchCase& item)
{
    return perSecond(static_cast<double>(item.edges) * options.layers, item.run.seconds);
}

Value caseJson(const BenchRunOptions& options, const BenchCase& item)
{
    Value object;
    object["nodes"] = item.nodes;
    object["edges"] = item.edges;
    object["seconds"] = item.run.seconds;
    object["prepare_seconds"] = item.prepareSeconds;
    object["prologue_seconds"] = item.run.prologueSeconds;
    object["nodes_per_second"] = perSecond(static_cast<double>(item.nodes), item.run.seconds);
    object["edges_per_second"] = edgeRate(options, item);
    object["anonymous_peak"] = item.anonymousPeak;
    object["anonymous_before"] = item.anonymousBefore;
    object["peak_memory"] = item.run.peakMemory;
    object["shares"] = shares(sum(item.run.stages));
    object["stages"] = Value::array();
    for (const schema::StageRecord& stage : item.run.stages) object["stages"].push(stageJson(stage));
    object["verify"] = item.sampled ? verdictJson(*item.sampled) : Value();
    object["reference"] = item.reference ? referenceJson(*item.reference) : Value();
    return object;
}

Value optionsJson(const BenchRunOptions& options)
{
    Value object;
    object["features"] = options.features;
    object["hidden"] = options.hidden;
    object["outputs"] = options.outputs;
    object["layers"] = options.layers;
    object["seed"] = static_cast<std::int64_t>(options.seed);
    object["memory"] = options.memory;
    object["device"] = options.device;
    object["batch"] = options.batch ? Value(*options.batch) : Value("auto");
    return object;
}

double timeRatio(const std::vector<BenchCase>& cases)
{
    return cases.size() < 2 || cases[0].run.seconds <= 0 ? 0 : cases[1].run.seconds / cases[0].run.seconds;
}

std::string scientific(double number)
{
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.1e", number);
    return text.data();
}

std::string bytes(std::int64_t count) { return base::formatBytes(static_cast<double>(count)); }
std::string count(std::int64_t number) { return base::formatCount(static_cast<double>(number)); }

std::string referenceText(const BenchReference& reference, const Style& style)
{
    const std::string verdict = reference.equal ? style.good("equal") : style.bad("different");
    return "all " + count(reference.error.rows) + " rows against float64: " + verdict + ", largest difference " +
           scientific(reference.error.maxAbsolute) + " (" + scientific(reference.error.maxRelative) + " relative), " +
           base::formatSeconds(reference.seconds) + ", " + bytes(reference.peakMemory) + " of its own\n";
}

std::string caseText(const BenchRunOptions& options, const BenchCase& item, const Style& style)
{
    std::string text = style.bold(count(item.nodes) + " nodes, " + count(item.edges) + " edges") + ", " +
                       std::to_string(options.layers) + " layers of " + std::to_string(options.hidden) + ", --memory " +
                       bytes(options.memory) + "\n";
    text += describeRun(item.run, style);
    text += base::formatCount(perSecond(static_cast<double>(item.nodes), item.run.seconds)) + " nodes/s, " +
            base::formatCount(edgeRate(options, item)) + " edges/s over all layers; anonymous memory at most " +
            bytes(item.anonymousPeak) + " (" + bytes(item.anonymousBefore) + " of it before the run)\n";
    if (item.sampled) text += describeVerdict(*item.sampled, style);
    if (item.sampled) text += count(item.sampled->coverage.withInEdges) + " of the rows covered have in-edges\n";
    if (item.reference) text += referenceText(*item.reference, style);
    return text;
}

}  // namespace

bool allVerified(const std::vector<BenchCase>& cases)
{
    for (const BenchCase& item : cases) {
        if (item.sampled && item.sampled->verdict == "different") return false;
        if (item.reference && !item.reference->equal) return false;
    }
    return true;
}

std::string benchJson(const BenchRunOptions& options, const std::vector<BenchCase>& cases)
{
    Value object;
    object["options"] = optionsJson(options);
    object["cases"] = Value::array();
    for (const BenchCase& item : cases) object["cases"].push(caseJson(options, item));
    object["time_ratio"] = cases.size() > 1 ? Value(timeRatio(cases)) : Value();
    return json::write(object, true);
}

std::string benchText(const BenchRunOptions& options, const std::vector<BenchCase>& cases, const Style& style)
{
    std::string text;
    for (const BenchCase& item : cases) text += (text.empty() ? "" : "\n") + caseText(options, item, style);
    if (cases.size() < 2) return text;
    std::array<char, 32> ratio{};
    std::snprintf(ratio.data(), ratio.size(), "%.2f", timeRatio(cases));
    return text + "\n" + std::to_string(options.scale) + " times the graph takes " + style.bold(ratio.data()) +
           " times as long\n";
}

}  // namespace hopscope::engine
