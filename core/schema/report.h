#pragma once

// The document report.json: the record of a run.

#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/choices.h"
#include "base/describe.h"
#include "base/reorder.h"
#include "base/result.h"
#include "base/store_type.h"
#include "base/tensor.h"
#include "plan/figures.h"
#include "plan/walls.h"
#include "schema/findings.h"
#include "schema/verification.h"
#include "json/json.h"
#include "json/reader.h"

namespace hopscope::schema {

struct LostNumbers {
    std::string output;
    std::int64_t numbers = 0, of = 0;
    bool operator==(const LostNumbers&) const = default;
};

template <std::same_as<LostNumbers> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described("lost", field("output", &T::output, "its name"),
                           field("numbers", &T::numbers,
                                 "that are NaN or infinite; of a complex element both parts count",
                                 base::Quantity::Count),
                           field("of", &T::of, "numbers of the output", base::Quantity::Count));
}

// The NaN and infinite numbers in the results, and their origin. They may be in the model's own results as well.
struct NotFiniteRecord {
    std::vector<LostNumbers> outputs;
    std::optional<OperatorRecord> first{};
    std::optional<plan::StageId> stage{};
    std::vector<std::string> given{};
    bool onSample = false;
    std::string origin{};
    [[nodiscard]] std::int64_t numbers() const
    {
        std::int64_t sum = 0;
        for (const LostNumbers& output : outputs) sum += output.numbers;
        return sum;
    }
    bool operator==(const NotFiniteRecord&) const = default;
};

template <std::same_as<NotFiniteRecord> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described(
        "not_finite", field("outputs", &T::outputs, "those that have such numbers"),
        field("first", &T::first,
              "the first operator whose result has such numbers although no operand has, and which reaches an output; "
              "null: "
              "there is none, or the search has not found it"),
        field("stage", &T::stage, "that computes it; null: before the first stage, or `first` is null"),
        field("given", &T::given, "inputs and parameters that hold such numbers themselves"),
        field("on_sample", &T::onSample,
              "whether `first` and `given` were found on a sample of the graph instead of the whole"),
        field("origin", &T::origin, "the same as a phrase, or a hint on how to find it"));
}

// The cost of an operator in one loop of a stage. `op` and `fused` contain the ids of operators in the plan.
struct OperatorTimeRecord {
    std::string op, label;
    std::vector<std::string> fused;
    double seconds = 0;
    std::int64_t bytes = 0;
    bool operator==(const OperatorTimeRecord&) const = default;
};

template <std::same_as<OperatorTimeRecord> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described("operator", field("op", &T::op, "as in the plan: `op12`"),
                           field("label", &T::label, "the readable name of its result: `convs.0.lin output`"),
                           field("fused", &T::fused, "operators computed with it, in one pass over the edges"),
                           field("seconds", &T::seconds, "for computing it", base::Quantity::Seconds),
                           field("bytes", &T::bytes, "of its results in one batch, at most", base::Quantity::Bytes));
}

struct StageRecord : plan::StageFigures {
    plan::StageId index{1};
    std::optional<plan::StagePrediction> predicted{};
    std::optional<double> boundSeconds{};
    std::optional<plan::Wall> wall{};
    std::vector<OperatorTimeRecord> operators{};
    bool operator==(const StageRecord&) const = default;
};

template <std::same_as<StageRecord> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Quantity;
    const std::tuple index(field("index", &T::index, "stages count from 1"));
    const std::tuple others(
        field("predicted", &T::predicted,
              "the prediction for the stage, by the same members; null if none could be made before the run"),
        field("bound_seconds", &T::boundSeconds, "the stage cannot take less on this machine ([the bound](#the-bound))",
              Quantity::Seconds),
        field("wall", &T::wall,
              "the largest part of the bound: `gemm` (matrix products), `rows` (random rows), `stream` (memory "
              "bandwidth), "
              "`link` (copies to and from a GPU), or `disk` (tables in windows)"),
        field("operators", &T::operators,
              "on a CPU, in the order of computation. An operator occurs once for each loop that computes it; reading "
              "rows and writing stores are not part of its time. Tiles that run in parallel count by their share of a "
              "core's time, so that the sum is comparable to `seconds` of the stage",
              base::Presence::Later));
    return base::described("stage", std::tuple_cat(index, base::inherited<T, plan::StageFigures>(), others));
}

struct OutputRecord {
    std::string name, file;
    base::DType dtype = base::DType::Float32;
    std::vector<std::int64_t> shape;
    bool operator==(const OutputRecord&) const = default;
};

template <std::same_as<OutputRecord> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described("output", field("name", &T::name, "`out`, or `out.KEY` of a dict or tuple"),
                           field("file", &T::file, "in the output folder"), field("dtype", &T::dtype, ""),
                           field("shape", &T::shape, ""));
}

// The order in which the nodes of a type were computed.
struct OrderRecord {
    std::string nodes;
    base::Reorder order = base::Reorder::None;
    double seconds = 0;
    double alphaBefore = 0, alphaAfter = 0;
    std::string reason;
    bool operator==(const OrderRecord&) const = default;
};

template <std::same_as<OrderRecord> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Quantity;
    return base::described(
        "order", field("nodes", &T::nodes, "the type"),
        field("order", &T::order, "`none` if the order of the input was kept"),
        field("seconds", &T::seconds, "for choosing and computing it, as part of the prologue", Quantity::Seconds),
        field("alpha_before", &T::alphaBefore,
              "distinct rows that a tile reads per destination, in the order of the input (on a sample of the tiles)",
              Quantity::Ratio),
        field("alpha_after", &T::alphaAfter, "the same in this order", Quantity::Ratio),
        field("reason", &T::reason, "a sentence"));
}

// A value that was stored in a narrower type, and the resulting error over all of its elements.
struct NarrowedRecord {
    std::string value;
    base::DType from = base::DType::Float32, to = base::DType::Float32;
    double maxAbsolute = 0, largest = 0;
    std::int64_t infinite = 0;
    bool operator==(const NarrowedRecord&) const = default;
};

template <std::same_as<NarrowedRecord> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Quantity;
    return base::described(
        "narrowed", field("value", &T::value, "its name"), field("from", &T::from, ""), field("to", &T::to, ""),
        field("max_abs", &T::maxAbsolute, "largest change of a finite element", Quantity::Ratio),
        field("largest", &T::largest, "largest finite element", Quantity::Ratio),
        field("infinite", &T::infinite, "finite elements that the narrower type cannot hold", Quantity::Count));
}

// A multiplication by a weight that was computed before an aggregation, a gather or a concatenation instead of after it.
struct ReassociatedPlace {
    std::string place, module;
    std::int64_t in = 0, out = 0;
    bool operator==(const ReassociatedPlace&) const = default;
};

template <std::same_as<ReassociatedPlace> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Quantity;
    return base::described(
        "product", field("place", &T::place, "operator and line of the source"),
        field("module", &T::module, "its path"),
        field("in", &T::in, "columns that the model gathers or places side by side for the product", Quantity::Count),
        field("out", &T::out, "columns that were gathered or added up instead", Quantity::Count));
}

struct ReassociatedRecord {
    std::vector<ReassociatedPlace> places;
    std::optional<double> maxAbsolute{}, maxRelative{};
    bool operator==(const ReassociatedRecord&) const = default;
};

template <std::same_as<ReassociatedRecord> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Quantity;
    return base::described(
        "reassociated",
        field("places", &T::places,
              "each product that was computed before an aggregation, a gather or a concatenation instead of after it; "
              "empty if there was none"),
        field("max_abs", &T::maxAbsolute,
              "the largest `max_abs` of an output in `verify`, that is, the measured difference from the untouched "
              "model; null "
              "without "
              "verification, and where it is infinite",
              Quantity::Ratio),
        field("max_rel", &T::maxRelative, "likewise", Quantity::Ratio));
}

// The parts of a run that a resumed run took over from earlier processes, or had to compute again.
struct ResumedRecord {
    std::int64_t chunks = 0, destinations = 0, damaged = 0;
    bool operator==(const ResumedRecord&) const = default;
};

template <std::same_as<ResumedRecord> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Quantity;
    return base::described("resumed", field("chunks", &T::chunks, "that were taken over", Quantity::Count),
                           field("destinations", &T::destinations, "that were taken over", Quantity::Count),
                           field("damaged", &T::damaged, "chunks that were computed again", Quantity::Count));
}

// The record of a process that has computed a shard of a run.
struct ShardRecord {
    int index = 1, count = 1;
    double waited = 0;
    std::int64_t computed = 0;
    bool complete = false;
    std::string run;
    bool operator==(const ShardRecord&) const = default;
};

template <std::same_as<ShardRecord> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Quantity;
    return base::described(
        "shard", field("index", &T::index, "of the process, from 1", Quantity::Count),
        field("count", &T::count, "of the processes", Quantity::Count),
        field("waited", &T::waited, "for others", Quantity::Seconds),
        field("computed", &T::computed, "destinations, by this process", Quantity::Count),
        field("complete", &T::complete,
              "whether these are the results of the run; a shard that is not the last one prints its part, without "
              "outputs. If they are, counts of stages cover the whole run, and seconds only this process"),
        field("run", &T::run, "digest of the conditions"));
}

struct Report {
    std::string model, modelClass;
    base::Strategy strategy = base::Strategy::Depth;
    std::string device;
    std::optional<std::string> confinement{};  // as confine::state()
    std::optional<std::vector<base::Fuse>> fuse{};
    std::optional<base::Reorder> reorder{};
    std::vector<OrderRecord> orders{};
    std::optional<base::StoreType> store{};
    std::vector<NarrowedRecord> narrowed{};
    std::optional<ReassociatedRecord> reassociated{};
    std::map<std::string, std::string> hashes;
    std::vector<StageRecord> stages;
    double prologueSeconds = 0, seconds = 0;
    std::int64_t peakMemory = 0;
    std::vector<OutputRecord> outputs;
    std::optional<ResumedRecord> resumed{};
    std::optional<ShardRecord> shard{};
    std::vector<std::string> notes;
    std::optional<NotFiniteRecord> notFinite{};
    std::optional<Verification> verify;
    bool operator==(const Report&) const = default;
};

template <std::same_as<Report> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Quantity, base::Presence;
    return base::described(
        "report", field("model", &T::model, "path of the file"),
        field("model_class", &T::modelClass, "class of the module"), field("strategy", &T::strategy, "of the plan"),
        field("device", &T::device, "of the plan"),
        field("confinement", &T::confinement,
              "the sandbox of the process during the run: `confined` ([SECURITY.md](../../SECURITY.md)), or `not "
              "confined: ` and "
              "the reason",
              Presence::Later),
        field("fuse", &T::fuse, "the patterns that a CPU was to fuse (`--fuse`)", Presence::Later),
        field("reorder", &T::reorder, "the requested order of the nodes (`--reorder`)", Presence::Later),
        field("orders", &T::orders,
              "for each type of nodes that could be computed in a different order; empty with `--reorder none`",
              Presence::Later),
        field("store", &T::store, "the requested type of stores (`--store`)", Presence::Later),
        field("narrowed", &T::narrowed, "each value that was stored in a narrower type than it was computed in",
              Presence::Later),
        field("reassociated", &T::reassociated, "only with `--reassociate`", Presence::WhenSet),
        field("hashes", &T::hashes, "`model`, `data`, `roles`, as in the plan"),
        field("stages", &T::stages, "in their order"),
        field("prologue_seconds", &T::prologueSeconds, "for the prologue", Quantity::Seconds),
        field("seconds", &T::seconds,
              "for the whole run: compiling the stages, prologue, stages, and publishing the results",
              Quantity::Seconds),
        field("peak_memory", &T::peakMemory, "maximum number of bytes allocated for tensors on the device",
              Quantity::Bytes),
        field("outputs", &T::outputs,
              "`out.npy`, or one file per tuple item (`out.0.npy`) or dict key (`out.KEY.npy`, percent-encoded); "
              "bfloat16 goes "
              "to `.safetensors`"),
        field("resumed", &T::resumed,
              "with `--resume`, if an earlier process started the run. Counts of stages cover the whole run, seconds "
              "only the last process",
              Presence::Later),
        field("shard", &T::shard, "of a process that has computed a part of the run (`--shard`)", Presence::Later),
        field("notes", &T::notes,
              "remarks: ignored inputs, guesses, NaN counts, reduced batches, stages whose tables did not fit into "
              "memory"),
        field("not_finite", &T::notFinite,
              "results that are NaN or infinite, see [below](#results-that-are-not-finite); null if all are finite",
              Presence::Later),
        field("verify", &T::verify, "the verification; null with `--verify none`"));
}

// Write parts that several documents share.
json::Value phasesValue(const plan::PhaseSeconds& phases);
json::Value bytesValue(const plan::Bytes& bytes);
// Returns a sentence such as "3 of 2,500 numbers in out are NaN or infinite: first made by aten::log in conv1
// (gcn.py:17), stage 1, for node 3".
std::string sentenceOf(const NotFiniteRecord& record);
// Returns this sentence for a report. Returns an empty string if all results are finite, or if the reason of the
// verdict already states the count and the origin.
std::string notFiniteBesideVerdict(const Report& report);
plan::Bytes readBytes(const json::Reader& item);

// Returns a stage of a report; null if the report has no such stage or is null.
const StageRecord* stageOf(const Report* report, plan::StageId stage);

json::Value reportValue(const Report& report);
std::string writeReport(const Report& report);  // its text
// Shortens a report whose text has about mostReportBytes or more: cuts long texts and, if necessary, omits the least
// important records. A note states how many. Outputs are not omitted, so a report with very many of them can still be
// longer.
inline constexpr std::size_t mostReportBytes = 4'000'000;
Report bounded(Report report);
base::Result<Report> readReport(const std::string& text, const std::string& file);

}  // namespace hopscope::schema
