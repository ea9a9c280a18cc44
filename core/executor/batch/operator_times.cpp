#include "executor/batch/operator_times.h"

namespace hopscope::executor {

void OperatorCosts::add(const OperatorCosts& other)
{
    if (m_costs.empty()) m_costs.resize(other.m_costs.size());
    for (std::size_t i = 0; i < other.m_costs.size(); ++i) m_costs[i].add(other.m_costs[i]);
}

void OperatorCosts::share(int workers)
{
    for (OperatorCost& cost : m_costs) cost.seconds /= workers;
}

void OperatorCosts::clear() { std::ranges::fill(m_costs, OperatorCost()); }

void addCosts(const OperatorCosts& costs, std::vector<OperatorTime>& report, std::size_t first)
{
    for (std::size_t i = 0; i < costs.costs().size(); ++i) {
        const OperatorCost& cost = costs.costs()[i];
        OperatorTime& time = report.at(first + i);
        time.seconds += cost.seconds;
        time.bytes = std::max(time.bytes, cost.bytes);
    }
}

std::vector<OperatorTime> operatorTimes(const LoopProgram& program)
{
    std::vector<OperatorTime> times;
    for (const Instruction& i : program.instructions) times.push_back({.op = i.op, .fused = i.fused});
    for (const Reduced& r : program.reductions) times.push_back({.op = r.op, .fused = {}});
    return times;
}

}  // namespace hopscope::executor
