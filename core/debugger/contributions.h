#pragma once

// Private to debugger: records the contributions of the messages that are aggregated into some nodes.

#include <map>
#include <set>

#include "debugger/rows.h"
#include "executor/probe.h"

namespace hopscope::debugger {

class Contributions {
public:
    // Records the messages of those of `values` that are results of aggregations, and skips the others.
    Contributions(const analysis::Analysis& analysis, const std::set<ir::ValueId>& values,
                  const std::vector<std::int64_t>& nodes);

    [[nodiscard]] bool empty() const { return m_messages.empty(); }
    void look(const executor::Probed& result);
    // Returns the contributions, sorted, with the edges of the messages.
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
    std::map<ir::ValueId, ir::OpId> m_messages;  // the aggregation of each value that consists of messages
    std::map<std::pair<ir::ValueId, std::int64_t>, std::vector<Message>> m_seen;  // by value of messages and node
};

}  // namespace hopscope::debugger
