#include "models/operator_times.h"

#include <algorithm>
#include <set>

namespace hopscope::models {

OperatorTimes::OperatorTimes(const schema::Report& report)
{
    for (const schema::StageRecord& stage : report.stages)
        for (const schema::OperatorTimeRecord& record : stage.operators) {
            m_passesOf[record.op].push_back(m_passes.size());
            for (const std::string& fused : record.fused) m_passesOf[fused].push_back(m_passes.size());
            m_passes.push_back(&record);
        }
}

std::optional<OperatorTimes::Sum> OperatorTimes::of(const std::vector<std::string>& operators) const
{
    std::set<std::size_t> passes;
    for (const std::string& op : operators)
        if (const auto found = m_passesOf.find(op); found != m_passesOf.end())
            passes.insert(found->second.begin(), found->second.end());
    if (passes.empty()) return std::nullopt;
    Sum sum;
    std::set<std::string> others;
    for (const std::size_t at : passes) {
        const schema::OperatorTimeRecord& pass = *m_passes[at];
        sum.seconds += pass.seconds;
        sum.bytes = std::max<qint64>(sum.bytes, pass.bytes);
        others.insert(pass.op);
        others.insert(pass.fused.begin(), pass.fused.end());
    }
    for (const std::string& op : operators) others.erase(op);
    sum.others.assign(others.begin(), others.end());
    return sum;
}

}  // namespace hopscope::models
