#pragma once

// Private to executor: determines the work of a loop's destinations, and where they may be divided: between tiles, or
// between the batches of a loop without tiles.

#include <cstdint>
#include <vector>

#include "executor/loop/loop_sizer.h"

namespace hopscope::executor {

// Returns the work of consecutive destinations: the rows that they own, and 8 for each of them.
double workOf(LoopSizer& sizer, const Destinations& destinations);

class LoopWork {
public:
    // `budget` has the same meaning as for runLoop(). Linear in the destinations.
    LoopWork(Session& session, const LoopProgram& program, double budget);

    // Returns the number of tiles or batches.
    [[nodiscard]] std::int64_t units() const { return static_cast<std::int64_t>(m_ends.size()) - 1; }
    [[nodiscard]] double total() const { return m_work.back(); }
    [[nodiscard]] bool mayCutAt(std::int64_t destination) const;
    // Returns the first destinations of `parts` parts of about equal work, and the end of the last one.
    [[nodiscard]] std::vector<std::int64_t> cuts(int parts) const;
    // Divides a range, which must begin and end between units, into shards with about the work `each`.
    [[nodiscard]] std::vector<ShardRange> pieces(const Destinations& range, int loop, double each) const;

private:
    // Returns the work before a destination, or before the next boundary of units.
    [[nodiscard]] double before(std::int64_t destination) const;
    [[nodiscard]] std::int64_t cutAfter(double work) const;

    std::vector<std::int64_t> m_ends;  // 0, and the end of each unit
    std::vector<double> m_work;        // before each of them: edges, and 8 for each destination
};

}  // namespace hopscope::executor
