#pragma once

// Private to forecast: computes the time of a loop, and its lower bound, from the walls of the machine.

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <tuple>

#include "executor/forecast/reuse.h"
#include "executor/forecast/wall_table.h"
#include "executor/program/loop_program.h"
#include "executor/structure.h"

namespace hopscope::forecast {

// The rate at which kernels read rows from pinned memory of the host, as a share of the rate of copies.
inline constexpr double hostReadRate = 0.7;

// A time in seconds. `bound` has the seconds at each wall; their sum is the lower bound.
struct Timing {
    double seconds = 0;
    std::array<double, namesOf(plan::Wall{}).size()> bound{};

    double& at(plan::Wall wall) { return bound[static_cast<std::size_t>(wall)]; }
    [[nodiscard]] double boundSeconds() const;
    [[nodiscard]] plan::Wall wall() const;  // the largest part of the bound
    void add(const Timing& other);
    // Extends the bound by the time of copies. A GPU copies in both directions while it computes, so the slowest of the
    // three bounds the stage. Kernels that read rows from the host take the time of the link.
    void link(const plan::Bytes& copied, std::int64_t hostReads, const WallTable& walls);
};

// Caches the reuse of rows that follows from the order of a graph, which does not depend on the plan.
class ReuseOfColumns {
public:
    explicit ReuseOfColumns(executor::Structure& structure) : m_structure(structure) {}

    // Returns the share of reads of the column that a cache of `heldRows` rows does not serve.
    double misses(ir::SpaceId space, ir::KeyId owner, ir::KeyId key, std::int64_t tableRows, double heldRows);

private:
    using Name = std::tuple<ir::SpaceId, ir::KeyId, ir::KeyId>;
    executor::Structure& m_structure;
    std::map<Name, std::unique_ptr<Reuse>> m_columns;
    std::map<std::pair<Name, double>, double> m_known;
};

// The way in which a loop is run on a CPU.
struct LoopRun {
    const executor::LoopProgram& program;
    double batches = 1;                               // tiles count as batches
    int workers = 1;                                  // workers that compute batches in parallel
    std::function<double(const ir::RowClass&)> rows;  // of all batches
    bool gpu = false;
};

// Adds up the times of the loop's instructions, plus the cost of a call for each. Products take the rate of their
// shape, rows picked from a table that of the cache that holds them, and everything else takes a time by the bytes
// that it touches.
// The bound leaves out avoidable work: values passed between operators, blocks and calls. Linear in the program, and in
// the sample of a graph that is seen for the first time.
Timing timingOf(const analysis::Analysis& analysis, executor::Structure& structure, const LoopRun& run,
                const WallTable& walls, ReuseOfColumns& reuse);

}  // namespace hopscope::forecast
