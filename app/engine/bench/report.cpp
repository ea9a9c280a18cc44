#include "bench/report.h"

#include "json/json.h"
#include "json/optional.h"

namespace hopscope::engine {

namespace {

using json::Value;

plan::PhaseSeconds sum(const std::vector<schema::StageRecord>& stages)
{
    plan::PhaseSeconds total;
    for (const schema::StageRecord& stage : stages)
        for (const plan::NamedPhase& phase : plan::namedPhases) total.*phase.seconds += stage.phases.*phase.seconds;
    return total;
}

// Of the time that the phases account for.
Value shares(const plan::PhaseSeconds& record)
{
    double whole = 0;
    for (const plan::NamedPhase& phase : plan::namedPhases) whole += record.*phase.seconds;
    plan::PhaseSeconds shares;
    for (const plan::NamedPhase& phase : plan::namedPhases)
        shares.*phase.seconds = whole > 0 ? record.*phase.seconds / whole : 0;
    return schema::phasesValue(shares);
}

Value stageJson(const schema::StageRecord& stage)
{
    Value object;
    object["index"] = stage.index.number;
    object["seconds"] = stage.seconds;
    object["bound_seconds"] = json::orNull(stage.boundSeconds);
    object["phases"] = schema::phasesValue(stage.phases);
    object["shares"] = shares(stage.phases);
    object["batches"] = stage.batches;
    object["smallest_batch"] = stage.smallestBatch;
    object["largest_batch"] = stage.largestBatch;
    object["frontier_rows"] = stage.frontierRows;
    object["back_offs"] = stage.backOffs;
    object["bytes"] = schema::bytesValue(stage.bytes);
    object["overlap"] = json::orNull(stage.overlap);
    object["peak_memory"] = stage.peakMemory;
    return object;
}

Value verdictJson(const schema::Verification& verdict)
{
    Value object;
    object["verdict"] = base::nameOf(verdict.verdict);
    object["reason"] = verdict.reason;
    object["seconds"] = verdict.seconds;
    object["coverage"] = schema::coverageValue(verdict.coverage);
    object["outputs"] = Value::array();
    for (const schema::TensorRecord& error : verdict.outputs) object["outputs"].push(schema::tensorValue(error));
    return object;
}

Value referenceJson(const BenchReference& reference)
{
    Value object = schema::tensorValue(reference.error);
    object["verdict"] = base::nameOf(reference.equal ? schema::Verdict::Equal : schema::Verdict::Different);
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

// 0 where a stage has none.
double boundOf(const BenchCase& item)
{
    double sum = 0;
    for (const schema::StageRecord& stage : item.run.stages) {
        if (!stage.boundSeconds) return 0;
        sum += *stage.boundSeconds;
    }
    return sum;
}

Value scalingJson(const Scaling& scaling)
{
    Value object;
    object["nodes"] = scaling.nodes;
    object["time"] = scaling.time;
    object["bound"] = json::orNull(scaling.bound);
    object["over_bound"] = json::orNull(scaling.overBound);
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

std::vector<Scaling> scalingOf(const std::vector<BenchCase>& cases)
{
    std::vector<Scaling> all;
    for (std::size_t i = 1; i < cases.size(); ++i) {
        const BenchCase &first = cases.front(), &item = cases[i];
        Scaling scaling{.nodes = static_cast<double>(item.nodes) / static_cast<double>(first.nodes),
                        .time = first.run.seconds > 0 ? item.run.seconds / first.run.seconds : 0,
                        .bound = {},
                        .overBound = {}};
        const double least = boundOf(first), bound = boundOf(item);
        if (least > 0 && bound > 0) {
            scaling.bound = bound / least;
            scaling.overBound = scaling.time / *scaling.bound;
        }
        all.push_back(scaling);
    }
    return all;
}

bool allVerified(const std::vector<BenchCase>& cases)
{
    for (const BenchCase& item : cases) {
        if (item.sampled && item.sampled->verdict == schema::Verdict::Different) return false;
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
    object["scaling"] = Value::array();
    for (const Scaling& scaling : scalingOf(cases)) object["scaling"].push(scalingJson(scaling));
    return json::write(object, true);
}

}  // namespace hopscope::engine
