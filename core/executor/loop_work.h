#pragma once

// Private to executor: how much work the destinations of a loop are, and where they may be cut: between tiles, or between
// the batches of a loop without tiles.

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
    // Where it may be cut: 0, and the end of each unit. What comes before a destination, or before the next such place.
    [[nodiscard]] const std::vector<std::int64_t>& places() const { return m_ends; }
    [[nodiscard]] double before(std::int64_t destination) const;
    // How many edges so much work of so many destinations has.
    [[nodiscard]] static std::int64_t edgesOf(double work, std::int64_t destinations);
    // The place nearest to a destination.
    [[nodiscard]] std::int64_t nearest(std::int64_t destination) const;
    // Where `parts` parts of about equal work begin, and the end.
    [[nodiscard]] std::vector<std::int64_t> cuts(int parts) const;
    // A range in shards of about so much work each. It begins and ends where it may be cut.
    [[nodiscard]] std::vector<ShardRange> pieces(const Destinations& range, int loop, double each) const;

private:
    [[nodiscard]] std::int64_t cutAfter(double work) const;

    std::vector<std::int64_t> m_ends;  // 0, and the end of each unit
    std::vector<double> m_work;        // before each of them: edges, and 8 for each destination
};

}  // namespace hopscope::executor
