#pragma once

// Private to executor: the work of a loop's destinations, and the places where they may be cut: between tiles, or
// between the batches of a loop without tiles.

#include <cstdint>
#include <vector>

#include "executor/loop_sizer.h"

namespace hopscope::executor {

class LoopWork {
public:
    // `budget`: as for runLoop(). Linear in the destinations.
    LoopWork(Session& session, const LoopProgram& program, double budget);

    // Tiles, or batches.
    [[nodiscard]] std::int64_t units() const { return static_cast<std::int64_t>(m_ends.size()) - 1; }
    [[nodiscard]] double total() const { return m_work.back(); }
    [[nodiscard]] bool mayCutAt(std::int64_t destination) const;
    // The first destinations of `parts` parts of about equal work, and the end of the last one.
    [[nodiscard]] std::vector<std::int64_t> cuts(int parts) const;
    // Divides a range into shards of about this work each. It must begin and end where it may be cut.
    [[nodiscard]] std::vector<ShardRange> pieces(const Destinations& range, int loop, double each) const;

private:
    // The work before a destination, or before the next place where the loop may be cut.
    [[nodiscard]] double before(std::int64_t destination) const;
    [[nodiscard]] std::int64_t cutAfter(double work) const;

    std::vector<std::int64_t> m_ends;  // 0, and the end of each unit
    std::vector<double> m_work;        // before each of them: edges, and 8 for each destination
};

}  // namespace hopscope::executor
