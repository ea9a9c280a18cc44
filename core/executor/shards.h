#pragma once

// Private to executor: a run that several processes compute together (Journal::others). Each computes its part of every
// loop of a stage, waits until all parts are finished, and takes over what others have computed.

#include <map>
#include <vector>

#include "executor/loop_sizer.h"
#include "executor/prologue.h"
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
    // Waits until all loops of the stage are finished; at the last stage, whether they are, and it is this process that goes
    // on with the results.
    bool finished(plan::StageId stage);

    // What others have computed of a loop; `damaged`: what has to be computed again, because rows or reductions are not
    // what was noted. The rest counts as written. Reads the rows back.
    struct Takeover {
        std::vector<Chunk> chunks;
        Ranges damaged;
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
    };
    const LoopProgram& programOf(const LoopNumber& number) const;
    std::int64_t countOf(const LoopNumber& number) const;
    Loop& loop(const LoopNumber& number);
    std::vector<std::int64_t> cutsOf(const LoopNumber& number);
    std::vector<std::int64_t> unitsOf(const LoopProgram& program, LoopSizer& sizer) const;
    void refuseLargeReductions(const LoopProgram& program, std::int64_t units) const;
    void gather();
    Waiting missing(plan::StageId stage);
    void collect(const LoopNumber& number, Waiting& waiting);
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
