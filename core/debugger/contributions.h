#pragma once

// Private to debugger: the contributions of an aggregation's messages for some nodes.

#include <map>
#include <set>

#include "debugger/rows.h"
#include "executor/probe.h"

namespace hopscope::debugger {

class Contributions {
public:
    // Aggregations among `values`; others are skipped.
    Contributions(const analysis::Analysis& analysis, const std::set<ir::ValueId>& values,
                  const std::vector<std::int64_t>& nodes);

    [[nodiscard]] bool empty() const { return m_messages.empty(); }
    void look(const executor::Probed& result);
    // Sorted, with the edges that the messages belong to.
    base::Result<std::vector<schema::AggregationRecord>> finish(executor::UnsplitValues& values) const;

private:
    struct Message {
        std::int64_t row = 0;
        double norm = 0;
    };
    base::Result<schema::AggregationRecord> record(ir::ValueId value, std::int64_t node,
                                                   const std::vector<Message>& messages,
                                                   executor::UnsplitValues& values) const;

    const analysis::Analysis& m_analysis;
    const std::vector<std::int64_t>& m_nodes;
    std::map<ir::ValueId, ir::OpId> m_messages;  // the messages of an aggregation, and the aggregation
    std::map<std::pair<ir::ValueId, std::int64_t>, std::vector<Message>> m_seen;  // by message value and node
};

}  // namespace hopscope::debugger
