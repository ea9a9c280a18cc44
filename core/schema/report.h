#pragma once

// What happened: the verdict of a verification, and report.json of a run.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/choices.h"
#include "base/reorder.h"
#include "base/result.h"
#include "base/store_type.h"
#include "base/tensor.h"
#include "plan/plan.h"
#include "plan/walls.h"
#include "schema/findings.h"
#include "json/json.h"
#include "json/reader.h"

namespace hopscope::schema {

// What a run was found to be, compared with the model itself.
enum class Verdict : std::uint8_t { Unverifiable, Equal, Different };

constexpr auto namesOf(Verdict)
{
    return std::to_array<base::Named<Verdict>>(
        {{Verdict::Equal, "equal"}, {Verdict::Different, "different"}, {Verdict::Unverifiable, "unverifiable"}});
}

// Which rows were compared: all, those of sampled destinations, or those of the sample graph before the run.
enum class CoverageMethod : std::uint8_t { Full, Sampled, Sample };

constexpr auto namesOf(CoverageMethod)
{
    return std::to_array<base::Named<CoverageMethod>>(
        {{CoverageMethod::Full, "full"}, {CoverageMethod::Sampled, "sampled"}, {CoverageMethod::Sample, "sample"}});
}

struct TensorRecord {
    std::string name;
    double maxAbsolute = 0, maxRelative = 0;
    std::int64_t rows = 0;       // compared
    std::int64_t different = 0;  // elements beyond the tolerance
    std::int64_t notFinite = 0;  // NaN or infinite in both, at the same place
    bool operator==(const TensorRecord&) const = default;
};

struct CoverageRecord {
    std::optional<CoverageMethod> method;            // none: nothing was compared
    std::int64_t rows = 0, chosen = 0, skipped = 0;  // rows of the outputs; sampled: chosen, and skipped for size
    std::int64_t withInEdges = 0;                    // covered rows that have in-edges
    int hops = 0;                                    // rounds of neighbourhood taken
    bool operator==(const CoverageRecord&) const = default;
};

struct ToleranceRecord {
    double absolute = 1e-5, relative = 1e-4;  // |a - b| <= absolute + relative * |reference|, per element,
    double scale = 1e-6;  // or <= scale * largest |reference| of the tensor, where rounding is amplified
    bool operator==(const ToleranceRecord&) const = default;
};

struct Verification {
    Verdict verdict = Verdict::Unverifiable;
    std::string reason;  // a sentence
    CoverageRecord coverage;
    std::vector<TensorRecord> outputs;
    std::vector<TensorRecord> checkpoints;  // after a full comparison, where the unsplit program fits beside the run
    ToleranceRecord tolerance;
    double seconds = 0;
    // Elements of the outputs that are NaN or infinite, in the model's own results as well.
    [[nodiscard]] std::int64_t notFinite() const
    {
        std::int64_t sum = 0;
        for (const TensorRecord& output : outputs) sum += output.notFinite;
        return sum;
    }
    bool operator==(const Verification&) const = default;
};

struct LostNumbers {
    std::string output;
    std::int64_t numbers = 0, of = 0;  // of a complex element both parts count
    bool operator==(const LostNumbers&) const = default;
};

// What of the results is NaN or infinite, whatever the model itself makes of the inputs, and where it comes from.
struct NotFiniteRecord {
    std::vector<LostNumbers> outputs;       // those that have any
    std::optional<OperatorRecord> first{};  // the first operator that makes such numbers of finite ones
    std::optional<plan::StageId> stage{};   // of `first`; none: it is computed once, before the stages
    std::vector<std::string> given{};       // inputs and parameters that hold some
    bool onSample = false;                  // `first` and `given` were found on a sample of the graph
    std::string origin{};                   // a phrase with `first` and `given`, or a command that finds them
    [[nodiscard]] std::int64_t numbers() const
    {
        std::int64_t sum = 0;
        for (const LostNumbers& output : outputs) sum += output.numbers;
        return sum;
    }
    bool operator==(const NotFiniteRecord&) const = default;
};

struct PhaseRecord {  // seconds
    double block = 0, gather = 0, h2d = 0, compute = 0, d2h = 0, write = 0;
    bool operator==(const PhaseRecord&) const = default;
};

// The phases of a batch in their order, by the names that documents and messages give them.
struct NamedPhase {
    const char* name;
    double PhaseRecord::*seconds;
};
inline constexpr std::array<NamedPhase, 6> namedPhases{{{"block", &PhaseRecord::block},
                                                        {"gather", &PhaseRecord::gather},
                                                        {"h2d", &PhaseRecord::h2d},
                                                        {"compute", &PhaseRecord::compute},
                                                        {"d2h", &PhaseRecord::d2h},
                                                        {"write", &PhaseRecord::write}}};

// What was foreseen of a stage, in the words of its record.
struct PredictedRecord {
    double seconds = 0;
    plan::Bytes bytes;
    std::int64_t peakMemory = 0, batches = 0, destinations = 0, frontierRows = 0;
    bool operator==(const PredictedRecord&) const = default;
};

// What computing an operator took in one loop of a stage; `op` and `fused` as in the plan ("op12").
struct OperatorTimeRecord {
    std::string op;
    std::string label;               // what people call its result: "convs.0.lin output"
    std::vector<std::string> fused;  // computed with it, in one pass over the edges
    double seconds = 0;
    std::int64_t bytes = 0;  // of its results in one batch, at most
    bool operator==(const OperatorTimeRecord&) const = default;
};

struct StageRecord {
    plan::StageId index{1};
    double seconds = 0;
    PhaseRecord phases;
    std::int64_t batches = 0, smallestBatch = 0, largestBatch = 0, destinations = 0, frontierRows = 0, backOffs = 0;
    plan::Bytes bytes;
    std::int64_t peakMemory = 0;
    std::optional<std::int64_t> reservedMemory;  // of a GPU: the most that its allocator had taken from the driver
    std::int64_t windows = 0, fileBytes = 0;     // where tables did not fit into memory; older reports do not say
    std::optional<double> coreSeconds{};         // that the cores of the CPU worked; older reports do not say
    std::optional<PredictedRecord> predicted{};  // none: not looked at beforehand, as in older reports
    std::optional<double> boundSeconds{};        // it cannot take less on this machine
    std::optional<plan::Wall> wall{};            // that most of the bound is
    std::optional<double> overlap;  // of a GPU's copies with its computing, as a share of the shorter of the two
    std::vector<OperatorTimeRecord> operators{};  // of a CPU, in the order of computation; older reports have none
    bool operator==(const StageRecord&) const = default;
};

struct OutputRecord {
    std::string name;  // "out", "out.KEY"
    std::string file;  // in the output folder
    base::DType dtype = base::DType::Float32;
    std::vector<std::int64_t> shape;
    bool operator==(const OutputRecord&) const = default;
};

// In which order the nodes of a type were computed.
struct OrderRecord {
    std::string nodes;  // the type
    base::Reorder order = base::Reorder::None;
    double seconds = 0;                      // for choosing and making it
    double alphaBefore = 0, alphaAfter = 0;  // distinct rows that a tile asks for, per destination
    std::string reason;
    bool operator==(const OrderRecord&) const = default;
};

// A value that was stored in a narrower type, and what that has changed in all of its elements.
struct NarrowedRecord {
    std::string value;  // by its name
    base::DType from = base::DType::Float32, to = base::DType::Float32;
    double maxAbsolute = 0;     // largest difference of a finite element
    double largest = 0;         // largest finite element
    std::int64_t infinite = 0;  // finite elements that became infinite
    bool operator==(const NarrowedRecord&) const = default;
};

// A product with a weight that was computed before an aggregation instead of after it.
struct ReassociatedRecord {
    std::string place, module;     // operator and place in the source; path of the module
    std::int64_t in = 0, out = 0;  // columns that the model aggregates, and that the run did
    bool operator==(const ReassociatedRecord&) const = default;
};

// What a run has taken over from a process that did not finish it.
struct ResumedRecord {
    std::int64_t chunks = 0, destinations = 0;
    std::int64_t damaged = 0;  // chunks that were computed again, because they were not what had been written
    bool operator==(const ResumedRecord&) const = default;
};

// Of a process that has computed a part of a run.
struct ShardRecord {
    int index = 1, count = 1;
    double waited = 0;          // seconds, for other processes
    std::int64_t computed = 0;  // destinations, by this process
    bool complete = false;      // the results are those of the run; else they appear with the last process
    std::string run;            // digest: of the run's conditions
    bool operator==(const ShardRecord&) const = default;
};

struct Report {
    std::string model, modelClass;
    base::Strategy strategy = base::Strategy::Depth;
    std::string device;
    std::string confinement{};                      // as confine::state(); empty: older reports
    std::optional<std::vector<base::Fuse>> fuse{};  // patterns that a CPU was to fuse; none: older reports
    std::optional<base::Reorder> reorder{};         // what was asked for; none: older reports
    std::vector<OrderRecord> orders{};
    std::optional<base::StoreType> store{};  // what was asked for; none: older reports
    std::vector<NarrowedRecord> narrowed{};
    std::optional<std::vector<ReassociatedRecord>> reassociated{};  // none: it was not asked for
    std::map<std::string, std::string> hashes;                      // "model", "data", "roles"
    std::vector<StageRecord> stages;
    double prologueSeconds = 0, seconds = 0;
    std::int64_t peakMemory = 0;
    std::vector<OutputRecord> outputs;
    std::optional<ResumedRecord> resumed{};  // none: the run went through, as in older reports
    std::optional<ShardRecord> shard{};      // none: one process has computed the run
    std::vector<std::string> notes;
    // None: all results are finite, or the report is older.
    std::optional<NotFiniteRecord> notFinite{};
    std::optional<Verification> verify;  // none: --verify none
    bool operator==(const Report&) const = default;
};

// The parts of documents that other documents of the engine have as well.
json::Value phasesValue(const PhaseRecord& phases);
json::Value bytesValue(const plan::Bytes& bytes);
json::Value tensorValue(const TensorRecord& record);
json::Value coverageValue(const CoverageRecord& coverage);
// "3 of 2,500 numbers in out are NaN or infinite: first made by aten::log in conv1 (gcn.py:17), stage 1, for node 3".
std::string sentenceOf(const NotFiniteRecord& record);
// The same of a report; empty if all results are finite, or the reason of the verdict begins with it.
std::string notFiniteBesideVerdict(const Report& report);
json::Value notFiniteValue(const NotFiniteRecord& record);
NotFiniteRecord notFiniteFrom(const json::Reader& item);
plan::Bytes readBytes(const json::Reader& item);

json::Value reportValue(const Report& report);
std::string writeReport(const Report& report);  // its text
// The same with less than mostReportBytes of text, not counting its outputs: the least important records are left out, and a
// note counts them.
inline constexpr std::size_t mostReportBytes = 4'000'000;
Report bounded(Report report);
base::Result<Report> readReport(const std::string& text, const std::string& file);

// `verify --json`, and the "verify" member of a report. `check` is the quick one on the sample, where it was made.
std::string writeVerification(const Verification& verification, const std::optional<Verification>& check);
base::Result<Verification> readVerification(const std::string& text, const std::string& file);

json::Value verificationValue(const Verification& verification);
Verification verificationFrom(const json::Reader& reader);

}  // namespace hopscope::schema
