#include "debugger/contributions.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "debugger/match.h"

namespace hopscope::debugger {

using ir::ValueId;

Contributions::Contributions(const analysis::Analysis& analysis, const std::set<ValueId>& values,
                             const std::vector<std::int64_t>& nodes)
    : m_analysis(analysis),
      m_nodes(nodes)
{
    for (const ValueId value : values) {
        const ir::OpId producer = analysis.program.value(value).producer;
        if (!producer.valid() || analysis.info(producer).structureOnly) continue;
        ir::forEachOperand(analysis.program.op(producer), [&](ir::Slot slot, ValueId operand) {
            if (analysis.info(producer).use(slot).use == analysis::Use::Message) m_messages[operand] = producer;
        });
    }
}

// Each row of the messages belongs to one batch.
void Contributions::look(const executor::Probed& result)
{
    if (!m_messages.contains(result.value) || result.rows.kind != ir::RowKind::Owned) return;
    const at::Tensor owners = result.owners(), numbers = result.rowNumbers();
    const at::Tensor table = result.tensor.movedim(m_analysis.rowDim(result.value), 0);
    for (const std::int64_t node : m_nodes) {
        const at::Tensor places = owners.eq(node).nonzero().flatten();
        for (std::int64_t i = 0; i < places.numel(); ++i) {
            const auto place = places[i].item<std::int64_t>();
            const double norm = table[place].to(at::kDouble).norm().item<double>();
            m_seen[{result.value, node}].push_back({numbers[place].item<std::int64_t>(), norm});
        }
    }
}

base::Result<schema::AggregationRecord> Contributions::record(ValueId value, std::int64_t node,
                                                              const std::vector<Message>& messages,
                                                              executor::UnsplitValues& values) const
{
    const ir::Op& op = m_analysis.program.op(m_messages.at(value));
    schema::AggregationRecord made;
    made.place = recordOf(m_analysis, op, op.outputs[0]);
    made.node = node;
    made.messages = static_cast<std::int64_t>(messages.size());
    double sum = 0;
    std::vector<DifferentRow> rows;
    for (const Message& message : messages) {
        sum += message.norm;
        rows.push_back({.row = message.row, .first = message.norm});
    }
    std::ranges::stable_sort(rows, [](const DifferentRow& a, const DifferentRow& b) { return a.first > b.first; });
    rows.resize(std::min(rows.size(), mostRowsShown));
    auto records = rowRecords(m_analysis, m_analysis.rowSpace(value), rows, values);
    if (!records) return base::forward(records);
    for (schema::RowRecord& row : *records) {
        const double share = sum > 0 ? row.first / sum : 0;
        made.contributions.push_back({std::move(row), share});
    }
    return made;
}

base::Result<std::vector<schema::AggregationRecord>> Contributions::finish(executor::UnsplitValues& values) const
{
    std::vector<schema::AggregationRecord> found;
    for (const auto& [key, messages] : m_seen) {
        auto made = record(key.first, key.second, messages, values);
        if (!made) return base::forward(made);
        found.push_back(std::move(*made));
    }
    return found;
}

}  // namespace hopscope::debugger
