#pragma once

// Private to executor: coordinates a run that several processes compute together (Journal::others). Each process
// computes its part of every loop of a stage, or the ranges assigned to it, waits until all parts are finished, and
// takes over the parts of the others.

#include <map>
#include <optional>
#include <vector>

#include "executor/loop/loop_work.h"
#include "executor/recovery/recovery.h"

namespace hopscope::executor {

class Shards {
public:
    // `found` contains the chunks that were finished when this process began; `budget` has the same meaning as for
    // runLoop().
    Shards(Session& session, const StagePrograms& programs, Others& others, const std::vector<Chunk>& found,
           double budget);

    // Returns the ranges of a loop that this process has to compute: the unfinished rest of its part, and damaged
    // chunks of any process. `left` is the work that remains in a resumed process. Raises Unsupported if the loop
    // cannot be computed in parts.
    Ranges part(const LoopNumber& number, const Remainder* left);
    // Prepares a loop of a run with a dealer: chunks that are already finished count as taken over.
    void begin(const LoopNumber& number, const Remainder* left);
    // Returns the unfinished destinations of a stage, in pieces of about 1/`parts` of the whole stage.
    StageShards left(plan::StageId stage, int parts);
    // Returns the unfinished parts of a range, for this process to compute. Raises Usage unless the range consists of
    // whole tiles.
    Ranges take(plan::StageId stage, const ShardRange& range);

    // Waits until all loops of the stage are finished. At the last stage, returns whether this process publishes the
    // results. `told` is the dealer's order, if there is a dealer.
    bool finished(plan::StageId stage, const std::optional<Order>& told);

    // Takes over the chunks of a loop that others have computed, and reads their rows back. `damaged` contains ranges
    // to compute again, because rows or reductions differ from their digests; `open` contains the remaining parts of
    // chunks that overlap with those of this process. All other rows count as written.
    struct Takeover {
        std::vector<Chunk> chunks;
        Ranges damaged, open;
    };
    Takeover takeOver(const LoopNumber& number);
    // Merges the contributions of all tiles of the loop into its reductions, in the order of the destinations.
    void mergeReductions(const LoopNumber& number);

    // Return the seconds for which this process has waited, and the number of destinations that it has computed.
    [[nodiscard]] double waited() const { return m_waited; }
    [[nodiscard]] std::int64_t computed() const { return m_computed; }

private:
    struct Loop {
        Ranges had;   // noted when this process began
        Ranges mine;  // computed here, or taken over
        Ranges ofShard(int index) const;
        std::vector<std::int64_t> cuts;  // the first destinations of the parts, and the end of the last one
        std::optional<LoopWork> work;
    };
    const LoopProgram& programOf(const LoopNumber& number) const;
    int loopsOf(plan::StageId stage) const;
    std::int64_t countOf(const LoopNumber& number) const;
    Loop& loop(const LoopNumber& number);
    void refuseLargeReductions(const LoopProgram& program, std::int64_t units) const;
    void add(Loop& loop, const Ranges& ranges) const;
    void gather();
    Ranges openOf(const LoopNumber& number) const;
    Waiting missing(plan::StageId stage);
    void collect(const LoopNumber& number, Waiting& waiting);
    void sort(std::vector<Chunk> found);
    Chunks chunksOf(const LoopNumber& number) const;
    std::vector<bool> verify(const LoopProgram& program, const std::vector<Chunk>& chunks);

    Session& m_session;
    const StagePrograms& m_programs;
    Others& m_others;
    double m_budget;
    std::map<LoopNumber, Loop> m_loops;
    std::map<LoopNumber, std::vector<Chunk>> m_found;  // by loop, as noted
    double m_waited = 0;
    std::int64_t m_computed = 0;
};

}  // namespace hopscope::executor
