#pragma once

// Private to executor: a run that several processes compute together (Journal::others). Each computes its part of every
// loop of a stage, or what it is told to, waits until all is finished, and takes over what others have computed.

#include <map>
#include <optional>
#include <vector>

#include "executor/loop_work.h"
#include "executor/recovery.h"

namespace hopscope::executor {

class Shards {
public:
    // `found`: what was finished when this process began. `budget`: as for runLoop().
    Shards(Session& session, const StagePrograms& programs, Others& others, const std::vector<Chunk>& found,
           double budget);

    // What this process is to compute of a loop: its part, as far as it is not finished, and what was noted by anybody, but
    // was damaged. `left`: of a process that goes on. Raises Unsupported if that cannot be done in parts.
    Ranges part(const LoopNumber& number, const Remainder* left);
    // With a dealer instead: what was finished before counts as taken over.
    void begin(const LoopNumber& number, const Remainder* left);
    // What nobody has finished of a stage, in pieces of about a `parts`-th of all of it.
    StageShards left(plan::StageId stage, int parts);
    // What nobody has finished of a range, for this process to compute. Raises Usage if it is not one of whole tiles.
    Ranges take(plan::StageId stage, const ShardRange& range);

    // Waits until all loops of the stage are finished; at the last stage, whether they are, and it is this process that goes
    // on with the results. `told`: by the dealer, who knows.
    bool finished(plan::StageId stage, const std::optional<Order>& told);

    // What others have computed of a loop; `damaged`: what has to be computed again, because rows or reductions are not
    // what was noted; `open`: what is left of chunks that reach into what this process has. The rest counts as written.
    // Reads the rows back.
    struct Takeover {
        std::vector<Chunk> chunks;
        Ranges damaged, open;
    };
    Takeover takeOver(const LoopNumber& number);
    // Merges what all tiles of the loop contribute to its reductions, in the order of the destinations.
    void mergeReductions(const LoopNumber& number);

    // In which this process has waited, and destinations that it has computed.
    [[nodiscard]] double waited() const { return m_waited; }
    [[nodiscard]] std::int64_t computed() const { return m_computed; }

private:
    struct Loop {
        Ranges had;   // noted when this process began
        Ranges mine;  // computed here, or taken over
        Ranges ofShard(int index) const;
        std::vector<std::int64_t> cuts;  // where the parts begin, and the end
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
