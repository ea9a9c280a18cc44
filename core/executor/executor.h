#pragma once

// Executes a plan stage by stage in batches of destination nodes, from memory-mapped inputs to stores in memory or in
// mapped files, on a CPU or a CUDA GPU. Also lists these devices.

#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "analysis/analysis.h"
#include "base/result.h"
#include "base/settings.h"
#include "base/tensor.h"
#include "executor/events.h"
#include "executor/journal.h"
#include "loader/loader.h"
#include "plan/figures.h"
#include "plan/plan.h"

namespace hopscope::executor {

class Probe;      // sees the results of operators (probe.h)
class Structure;  // everything that depends on the graph only: tables, adjacencies, the prologue

// The settings of a run, and the members that its plan and its caller determine. For some settings there are conditions:
// - the device must be "cpu", "cuda:N", or several GPUs as in "cuda:0,cuda:1", the result of resolveDevice(). Several GPUs
//   compute parts of each stage at the same time, in tiles of fixed size, as on one GPU with a journal;
// - without `batch`, the number of destinations is chosen by memory and adapted during the run;
// - `memory` limits the executing device, each of several; on a CPU, the whole process. Without it there is no limit, but batches are
//   sized to a share of the free memory;
// - without `threads`, the run uses the cores of the calling thread (Cores);
// - reorder has no effect on a GPU with a journal, nor on several GPUs. Outputs keep their types, whatever `store` is, and
//   the tensors in the report are in the order of the input;
// - the folder `cache` must exist.
struct Options : base::Settings {
    Options() : base::Settings{.device = "cpu", .reorder = base::Reorder::None} {}
    explicit Options(base::Settings settings) : base::Settings(std::move(settings)) {}

    // CPU without `batch` and without a journal: the predicted numbers of destinations that fit, by stage and loop.
    // They are used until a batch does not fit. If a number is nullopt or missing, it is chosen during the run.
    std::vector<std::vector<std::optional<std::int64_t>>> sizes;
    std::optional<std::int64_t> tile;  // CPU without `batch`: destinations per tile (tiles.h); nullopt: chosen by bytes
    std::string folder;                // for stores and scratch files; must exist
    std::optional<std::uint64_t> shuffleSeed;  // destinations in random order instead of ascending
    Probe* probe = nullptr;                    // CPU with `batch`; must outlive the run
    // CPU without a journal: files, by input, that contain only this input and are not read after the run. A file is
    // emptied as soon as no stage needs its contents; its mapping must not be read after that.
    std::map<std::string, std::string> transientInputs;
    bool dropStores = false;  // deletes stores that are not outputs after the last stage that reads them
    // The journal that records finished work and from which a run resumes. Stores in `folder` then outlive this process
    // until the folder is removed, and the sizes of batches do not depend on earlier batches. Must outlive the run.
    Journal* journal = nullptr;
    // CPU: bytes that a loop may take for rows read from and written to files before it is computed in windows
    // (table_stream.h); nullopt: the memory that is available to the process when the loop begins.
    std::optional<std::int64_t> tableMemory;
};

struct StoredTensor {
    ir::ValueId value;
    std::string name;         // outputs: "out", "out.KEY"; other stored values: "v17"
    base::TensorView tensor;  // mapped from `file`, if there is one
    std::string file;         // path of the file in Options::folder; empty except for outputs with rows
};

// The time of an operator in one loop of a stage, without copies and stores.
struct OperatorTime {
    ir::OpId op;                  // invalid: no operator, but rows read or numbered
    std::vector<ir::OpId> fused;  // operators that were computed with it, in one pass over the edges
    double seconds = 0;           // of all batches; tiles that are computed in parallel count with their share
    std::int64_t bytes = 0;       // the most bytes of its results in a batch
};

struct StageReport : plan::StageFigures {
    plan::StageId index{1};
    std::int64_t leastFileBytes = 0;      // the part of fileBytes that reading each table once would take
    std::vector<OperatorTime> operators;  // CPU: in the order of computation, loop by loop
};

// The order in which the nodes of a type were computed.
struct OrderReport {
    std::string nodes;  // the type
    base::Reorder used = base::Reorder::None;
    double seconds = 0;            // to choose and make the order
    double before = 0, after = 0;  // rows read per destination of a tile: in the order of the input, and in this one
    std::string reason;            // why it is used, or why there is none
};

// The errors from storing a value in a narrower type, over all of its elements.
struct StoreReport {
    ir::ValueId value;
    std::string name;  // as in messages
    base::DType from = base::DType::Float32, to = base::DType::Float32;
    double maxAbsolute = 0;     // largest difference of an element that stays finite
    double largest = 0;         // largest absolute value of a finite element
    std::int64_t infinite = 0;  // finite elements that became infinite
};

// The report of one of several processes that compute a run (Journal::others).
struct ShardReport {
    Share share;
    double waited = 0;          // seconds, for other processes
    std::int64_t computed = 0;  // destinations of all loops, by this process
    bool complete = false;      // the run is finished, with its results in this process
};

struct RunReport {
    std::vector<StageReport> stages;
    double prologueSeconds = 0;
    double seconds = 0;
    int cores = 1;  // of the CPU that the run could use
    std::int64_t peakMemory = 0;
    std::vector<StoredTensor> outputs;      // in the order of Program::outputs
    std::vector<StoredTensor> checkpoints;  // remaining stored values that are not outputs
    std::vector<StoreReport> narrowed;      // stores in a narrower type
    std::vector<OrderReport> orders;        // of each type that could have one; empty if no order was requested
    std::optional<ResumeReport> resumed;    // if an earlier process has finished a part of the run
    std::optional<ShardReport> shard;
    std::int64_t rowNumbers = 0;     // GPU: row numbers that the host computed, also for batches that did not fit
    std::vector<std::string> notes;  // sentences for the user
};

// Evaluates the prologue and all stages of `plan`. Outputs with rows are files in options.folder, which the caller
// publishes or removes. Without a journal, no files are left after a failure or cancellation. A shard that does not
// publish the results returns without outputs. Fails with Input if the inputs disagree with the schema or the model, for
// example if the value of a guard differs from that on the sample. Fails with Resources if memory or disk space is not
// enough, or if records of shards are damaged. Fails with Unsupported if LibTorch lacks an operator or a reduction is too
// large for shards, and with Usage, Cancelled or Internal. The checks of the executor that fail with Internal are also
// enabled in release builds. `known` is a structure of the same walk, analysis and inputs, whose contents are not built
// again.
base::Result<RunReport> run(const loader::Walk& walk, const analysis::Analysis& analysis, const plan::Plan& plan,
                            const base::TensorMap& inputs, const Options& options, Observer& observer,
                            std::stop_token stop, std::shared_ptr<Structure> known = nullptr);

// Sets the number of cores that operators and loops of the calling thread use during its lifetime (0: no change).
// Predictions also assume this number.
class Cores {
public:
    explicit Cores(int count);
    ~Cores();
    Cores(const Cores&) = delete;
    Cores& operator=(const Cores&) = delete;

private:
    int m_before;
};

struct DeviceInfo {
    std::string id, name;     // "cpu", "cuda:0"
    std::int64_t memory = 0;  // total bytes; 0 if unknown
    std::string driver;       // GPU: "580.65.06, CUDA 13.0"; empty if unknown
    std::string computes{};   // GPU: "compute capability 9.0, CUDA 12.6": its own, and the CUDA version of LibTorch
};

struct GpuListing {
    std::vector<DeviceInfo> usable;    // "cuda:0", "cuda:1", ...; the numbers also count GPUs that are too old
    std::vector<std::string> missing;  // sentences: why GPUs cannot be used, or only slowly
};

// Lists the GPUs of this machine. Creates no CUDA contexts and allocates no memory on them.
GpuListing listGpus();

// Returns the devices of a list: "cuda:0" and "cuda:1" of "cuda:0,cuda:1", "cpu" of "cpu".
std::vector<std::string> devicesOf(const std::string& devices);

// Lists the CPU, then all GPUs that can be used.
std::vector<DeviceInfo> listDevices();

// Returns whether a GPU has failed in a way from which this process cannot recover, such as an illegal memory access. A
// new process can use the GPU again.
bool deviceLost();

// Returns "cpu" or "cuda:N" for a device in the user's notation. "cuda" and "auto" stand for the first usable GPU;
// without one, "auto" stands for the CPU. Of several GPUs, as in "cuda:0,cuda:1", it returns such a list. Fails with Usage,
// naming the reason, if `wanted` does not exist or cannot be used, if a GPU is named twice, or if a list names the CPU.
base::Result<std::string> resolveDevice(const std::string& wanted);

}  // namespace hopscope::executor
