#pragma once

// Private to executor: which destinations belong to which of several processes that share no stores (Ownership). Each owns
// a range of every loop. The ranges of the loops over one node type begin and end near the same destinations, chosen by
// the work of all of them together, and exactly where each loop may be cut.

#include <map>
#include <vector>

#include "executor/chunk_log.h"
#include "executor/loop_work.h"
#include "executor/prologue.h"

namespace hopscope::executor {

class OwnedRanges {
public:
    // For owners 1 to `count`. `budget`: as for runLoop(). Linear in the destinations of all loops.
    OwnedRanges(Session& session, const StagePrograms& programs, double budget, int count);

    [[nodiscard]] int count() const { return m_count; }
    // Nothing for 0.
    [[nodiscard]] Destinations of(const LoopNumber& loop, int owner) const;
    [[nodiscard]] const LoopWork& work(const LoopNumber& loop) const { return m_work.at(loop); }

private:
    void cut(const std::vector<LoopNumber>& loops);

    int m_count;
    std::map<LoopNumber, LoopWork> m_work;
    std::map<LoopNumber, std::vector<std::int64_t>> m_cuts;  // where the ranges begin, and the end
};

}  // namespace hopscope::executor
