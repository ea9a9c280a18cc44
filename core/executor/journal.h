#pragma once

// Declares the journal of a run. It records the finished work in chunks, so that a later process can resume from there
// with bit-identical results. pipeline/running/run_journal.h implements its storage. Also declares how the processes
// that compute a run together share the work.

#include <cstdint>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/digest.h"
#include "plan/loop_cut.h"
#include "plan/plan.h"

namespace hopscope::executor {

// The rounding errors of finite values that were stored in a narrower type.
struct Rounding {
    double maxAbsolute = 0;     // largest difference of a value that stays finite
    double largest = 0;         // largest absolute value before rounding
    std::int64_t infinite = 0;  // number of values that become infinite

    void add(const Rounding& other);
};

// The rows of one value that a chunk has stored, represented by the digest of the digests of its tiles. The digest of a
// tile covers its rows in the order of the tile.
struct ChunkRows {
    ir::ValueId value;
    std::string digest;
    std::optional<Rounding> lost;  // if the store is narrower than the value
};

// Destinations [first, first + count) of a loop that have been computed and stored, in tiles of `tile` destinations.
// The last tile may have fewer.
struct Chunk {
    plan::StageId stage{1};
    int loop = 1;
    std::int64_t first = 0, count = 0, tile = 1;
    std::vector<ChunkRows> rows;  // of all values that the loop writes
    std::string totals;  // file in Options::folder: the reductions of the loop over everything before first + count
    std::string parts;   // shards, instead of totals: file with the contribution of each tile of the chunk
    // For the report.
    std::int64_t batches = 0, smallest = 0, largest = 0, edges = 0, frontier = 0;
    plan::Bytes bytes;
};

// Identifies one of several processes that compute a run together. `index` counts from 1. `count` is 0 if a Dealer
// assigns the work, to any number of processes.
struct Share {
    int index = 1, count = 1;
    bool operator==(const Share&) const = default;
};

// The destinations of a stage that a process waits for others to compute.
struct Waiting {
    plan::StageId stage{1};
    int stages = 1;
    std::map<int, std::int64_t> left;  // unfinished ones by index of the process; empty with a dealer
    std::int64_t done = 0, total = 0;  // destinations of the stage

    [[nodiscard]] bool over() const { return done == total; }
};

// A range of destinations of a loop that one process computes at a time. It begins and ends at the boundaries of tiles.
struct ShardRange {
    int loop = 1;
    std::int64_t first = 0, count = 0;
    double work = 0;  // edges, and 8 for each destination
};

// The unfinished destinations of a stage, in shards.
struct StageShards {
    std::vector<ShardRange> shards;
    std::int64_t done = 0, total = 0;  // destinations of the stage
};

// An instruction for a process at a stage.
struct Order {
    enum class Kind : std::uint8_t {
        List,     // list the unfinished work of the stage, in pieces of about 1/`parts` of the whole
        Compute,  // compute the unfinished destinations of `range`
        Leave,    // leave the stage once it is finished, and take over the results of the others
    } kind = Kind::Leave;
    int parts = 1;
    ShardRange range{};
    bool publish = false;  // Leave of the last stage: only a process with `true` takes over and publishes the results
};

// Assigns work to a process, shard by shard. Its functions are called on the thread that runs the plan.
class Dealer {
public:
    virtual ~Dealer() = default;
    // Waits for the next order at this stage. Fails with Cancelled.
    virtual base::Result<Order> next(plan::StageId stage, int stages, const std::stop_token& stop) = 0;
    // Report the result of the last order: the list; the number of destinations computed and the bytes moved; or the
    // bytes of rows that others had written and that were read back at the end of the stage.
    virtual void listed(StageShards left) = 0;
    virtual void computed(std::int64_t destinations, const plan::Bytes& moved) = 0;
    virtual void readBack(std::int64_t bytes) = 0;
};

// The other processes of a run. Each has a journal of its own, and all of them write different rows of the same stores.
class Others {
public:
    virtual ~Others() = default;
    [[nodiscard]] virtual Share share() const = 0;
    // Returns whether an earlier process had already started this process's part.
    [[nodiscard]] virtual bool repeated() const = 0;
    // Returns the dealer that assigns work to this process; nullptr if the process computes its share.
    [[nodiscard]] virtual Dealer* dealer() const { return nullptr; }
    // Returns the finished chunks of all processes, including this one. Of other processes that are still running, only
    // chunks that have reached the disk are returned.
    virtual base::Result<std::vector<Chunk>> gather() = 0;
    // Returns after a moment. Fails with Resources if the process has waited for too long without a ready(), and
    // with Cancelled.
    virtual base::Status wait(const Waiting& waiting, const std::stop_token& stop) = 0;
    virtual void ready() = 0;
    // Determines which process publishes the results, and returns whether it is this one. Call it when everything is
    // finished.
    virtual base::Result<bool> conclude(const std::stop_token& stop) = 0;
};

class Journal {
public:
    virtual ~Journal() = default;
    // Returns the memory budget of a batch, in bytes, if an earlier process has started this run.
    [[nodiscard]] virtual std::optional<std::int64_t> batchBytes() const = 0;
    // Records the memory budget and the division of loops into tiles, unless an earlier process has. Returns the
    // finished chunks, those of each process in the order in which they were recorded. Fails with Input if a different
    // division was recorded before, and with Resources.
    virtual base::Result<std::vector<Chunk>> begin(std::int64_t batchBytes, const std::vector<plan::LoopCut>& cuts) = 0;
    // Records the chunk, which then survives the end of this process. Fails with Input if the user's files have
    // changed, and with Resources. Only one thread may call it at a time.
    virtual base::Status append(const Chunk& chunk) = 0;
    // Returns the current end of the journal for sync(), which is after the last chunk appended; 0 if sync() always
    // flushes everything. Any thread may call it.
    [[nodiscard]] virtual std::int64_t end() const { return 0; }
    // Flushes the chunks before `end` to the disk, so that they survive a crash of the machine, provided that their
    // rows do. Any thread may call it.
    virtual base::Status sync(std::int64_t end) = 0;
    // Returns the other processes; nullptr unless this process computes only a part of the run.
    [[nodiscard]] virtual Others* others() { return nullptr; }
};

// Returns the properties that, together with model, data, plan and cuts, determine the last bits of this process's
// results on a device: "cpu", "instructions", "torch", "threads", and "gpu": its model, compute capability and CUDA
// version, or "none". The prologue is computed on the CPU in any case. `device` is the result of resolveDevice().
std::map<std::string, std::string> fingerprint(const std::string& device);

// The work that a run has taken over from an earlier process.
struct ResumeReport {
    std::int64_t chunks = 0, destinations = 0;  // taken over
    std::int64_t damaged = 0;                   // chunks whose rows have changed since they were written
};

}  // namespace hopscope::executor
