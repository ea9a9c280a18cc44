#pragma once

// Private to executor: measures the time of each operator of a loop on a CPU.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "executor/device/phases.h"
#include "executor/executor.h"
#include "executor/program/loop_program.h"

namespace hopscope::executor {

// The cost of one instruction or reduction of a loop.
struct OperatorCost {
    double seconds = 0;
    std::int64_t bytes = 0;  // the most bytes of its results in a batch

    void add(const OperatorCost& other)
    {
        seconds += other.seconds;
        bytes = std::max(bytes, other.bytes);
    }
};

// The costs of a loop's instructions, followed by those of its reductions; costs of instructions that compute no
// operator stay 0. Nothing is recorded on a GPU, where operators are queued long before they are executed.
class OperatorCosts {
public:
    OperatorCosts() = default;
    OperatorCosts(const LoopProgram& program, bool measured)
        : m_costs(measured ? program.instructions.size() + program.reductions.size() : 0)
    {}

    // Runs `work`, and records its time and the `bytes` of its results.
    template <class Work, class Bytes>
    void measure(std::size_t number, Work&& work, Bytes&& bytes)
    {
        if (m_costs.empty()) return std::forward<Work>(work)();
        const double start = steadySeconds();
        std::forward<Work>(work)();
        m_costs[number].add({steadySeconds() - start, std::forward<Bytes>(bytes)()});
    }

    void add(const OperatorCosts& other);
    // Divides the times by the number of workers that computed in parallel: an hour of all of them is one hour of the
    // run.
    void share(int workers);
    // Sets all costs to 0.
    void clear();

    [[nodiscard]] const std::vector<OperatorCost>& costs() const { return m_costs; }

private:
    std::vector<OperatorCost> m_costs;
};

// Adds the times of a batch to the entries of its loop in the report of a stage, which begin at `first`.
void addCosts(const OperatorCosts& costs, std::vector<OperatorTime>& report, std::size_t first);

// Returns the entries of a loop without times, one for each instruction and reduction.
std::vector<OperatorTime> operatorTimes(const LoopProgram& program);

}  // namespace hopscope::executor
