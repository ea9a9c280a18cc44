#pragma once

// Runs a plan: stage after stage, batch after batch, for every destination row, from memory-mapped inputs to
// memory-mapped stores. CPU and CUDA go through the same code.

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "base/result.h"
#include "base/tensor.h"
#include "executor/events.h"
#include "loader/loader.h"
#include "plan/plan.h"

namespace hopscope::executor {

enum class NanPolicy : std::uint8_t { Propagate, Refuse };

struct Options {
    std::string device = "cpu";                // "cpu", "cuda", "cuda:N"; "auto" has been resolved before
    std::optional<std::int64_t> batch;         // destinations per batch; none: by memory, measured and adapted
    std::optional<std::int64_t> memoryLimit;   // bytes on the executing device; none: a share of what is free
    std::string folder;                        // where stores are written; exists
    std::optional<std::uint64_t> shuffleSeed;  // destinations in random order instead of ascending
    int threads = 0;                           // 0: all cores
    bool dropStores = false;                   // stores that are no outputs go after the last stage that reads them
};

struct StoredTensor {
    ir::ValueId value;
    std::string name;         // outputs: "out", "out.KEY"; checkpoints: "v17"
    base::TensorView tensor;  // mapped from `file`, or in memory for values without rows
    std::string file;         // path, in Options::folder; empty for values in memory
};

struct PhaseSeconds {
    double block = 0, gather = 0, h2d = 0, compute = 0, d2h = 0, write = 0;
};

struct StageReport {
    int index = 1;
    double seconds = 0;
    PhaseSeconds phases;
    std::int64_t batches = 0;
    std::int64_t smallestBatch = 0, largestBatch = 0;  // destinations
    plan::Bytes bytes;                                 // rows written, rows read, structure
    std::int64_t peakMemory = 0;                       // of the device allocator: tensors
    std::int64_t reservedMemory = 0;                   // of a GPU: taken from the driver, caches included
    std::int64_t frontierRows = 0;                     // sum over batches
    std::int64_t destinations = 0;
    int backOffs = 0;               // batches redone smaller after running out of memory
    std::optional<double> overlap;  // of a GPU's copies with its computing, as a share of the shorter of the two
};

struct RunReport {
    std::vector<StageReport> stages;
    double prologueSeconds = 0;
    double seconds = 0;
    std::int64_t peakMemory = 0;
    std::vector<StoredTensor> outputs;      // in the order of Program::outputs
    std::vector<StoredTensor> checkpoints;  // those that are not outputs
    std::vector<std::string> notes;         // "stage 2: batch reduced to 4,096 after running out of memory", NaN counts
};

// Evaluates the prologue and every stage of `plan`. Stores are written under options.folder with temporary names the
// caller publishes or removes; on failure and on cancellation nothing that this call made is left there.
// Fails with Input (inputs disagree with the schema, a guard came out differently), Resources (out of memory with one
// destination per batch, disk full), Cancelled, Internal (an executor assertion: they stay on in release builds).
base::Result<RunReport> run(const loader::Walk& walk, const analysis::Analysis& analysis, const plan::Plan& plan,
                            const base::TensorMap& inputs, const Options& options, Observer& observer,
                            std::stop_token stop);

struct DeviceInfo {
    std::string id, name;     // "cpu", "cuda:0"
    std::int64_t memory = 0;  // bytes in all; 0: not known
    std::string driver;       // of a GPU: "580.65.06, CUDA 13.0"; empty: not known
};

struct GpuListing {
    std::vector<DeviceInfo> usable;    // "cuda:0", "cuda:1", ...; one that is too old keeps its number
    std::vector<std::string> missing;  // why a GPU that is there cannot be used, a sentence each; empty: nothing to say
};

// The GPUs of this machine. Makes no context on any of them: takes none of their memory.
GpuListing listGpus();

// The CPU first, then every GPU that a run can use.
std::vector<DeviceInfo> listDevices();

// Whether a GPU has failed in such a way that this process cannot compute on it any more, as after an illegal access. What
// has been run on it ended with an error; a new process may go on.
bool deviceLost();

// "cpu" or "cuda:N"; "auto" is the first GPU that can be used, else the CPU. Fails with Usage if `wanted` names a device
// that is not there or cannot be used, and says why and what there is.
base::Result<std::string> resolveDevice(const std::string& wanted);

}  // namespace hopscope::executor
