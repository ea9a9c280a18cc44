#pragma once

// The journal of a run as the executor sees it: what has been finished, in chunks, so that a later process goes on from
// there with the same bits. Where it is kept is somebody else's business (pipeline/run_journal.h).

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/digest.h"
#include "plan/plan.h"

namespace hopscope::executor {

// What a narrower type has changed in values that were finite.
struct Rounding {
    double maxAbsolute = 0;     // of those that stay finite
    double largest = 0;         // absolute value
    std::int64_t infinite = 0;  // number of those that do not

    void add(const Rounding& other);
};

// The rows that a chunk has stored of one value: the digest of the digests of its tiles, each of which is that of the
// tile's rows in the order of the tile.
struct ChunkRows {
    std::string value;  // "v17"
    std::string digest;
    std::optional<Rounding> lost;  // where the store is narrower than the value
};

// Destinations [first, first + count) of a loop, computed and stored. They were cut into tiles of `tile` destinations,
// the last of which may have fewer.
struct Chunk {
    int stage = 1, loop = 1;
    std::int64_t first = 0, count = 0, tile = 1;
    std::vector<ChunkRows> rows;  // of all values that the loop writes
    std::string totals;  // file in Options::folder: the reductions of the loop over everything before first + count
    // For the report.
    std::int64_t batches = 0, smallest = 0, largest = 0, edges = 0, frontier = 0;
    plan::Bytes bytes;
};

// How a loop is cut, which decides about the last bits of what it computes.
struct LoopCut {
    int stage = 1, loop = 1;
    std::optional<std::int64_t> tile;  // destinations; none: as many as fit into the bytes of a batch
    bool operator==(const LoopCut&) const = default;
};

class Journal {
public:
    virtual ~Journal() = default;
    // The bytes of a batch, if an earlier process has begun this run.
    [[nodiscard]] virtual std::optional<std::int64_t> batchBytes() const = 0;
    // Notes the cuts. Returns what is finished already, in the order in which it was; Input if other cuts were noted.
    virtual base::Result<std::vector<Chunk>> begin(std::int64_t batchBytes, const std::vector<LoopCut>& cuts) = 0;
    // From now on the chunk survives the end of this process. One thread at a time.
    virtual base::Status append(const Chunk& chunk) = 0;
    // All chunks so far survive the end of the machine, provided that their rows do. Any thread.
    virtual base::Status sync() = 0;
};

// What decides, beside model, data, plan and cuts, about the last bits of what this process computes on a CPU: "cpu",
// "instructions", "torch", "threads".
std::map<std::string, std::string> fingerprint();

// What a run has taken over from an earlier process.
struct ResumeReport {
    std::int64_t chunks = 0, destinations = 0;  // taken over
    std::int64_t damaged = 0;                   // chunks whose rows were not those that had been written
};

}  // namespace hopscope::executor
