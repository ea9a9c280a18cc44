#include "bench/report.h"

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

}  // namespace

double perSecond(double count, double seconds) { return seconds > 0 ? count / seconds : 0; }

double edgeRate(const BenchRunOptions& options, const BenchCase& item)
{
    return perSecond(static_cast<double>(item.edges) * options.layers, item.run.seconds);
}

double timeRatio(const std::vector<BenchCase>& cases)
{
    return cases.size() < 2 || cases[0].run.seconds <= 0 ? 0 : cases[1].run.seconds / cases[0].run.seconds;
}

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

}  // namespace hopscope::engine
