#pragma once

// A batch of small graphs to be laid out: some are cached, some are sent to the helper process, and the rest are laid out
// here. Plain functions for worker threads.

#include <QByteArray>
#include <QHash>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "graphview/layout/small_layout.h"
#include "json/json.h"

namespace hopscope::graphview {

// Layouts by the content of their graphs, for all threads.
class LayoutCache {
public:
    [[nodiscard]] std::optional<SmallLayout> find(const QByteArray& hash) const;
    void insert(const QByteArray& hash, const SmallLayout& layout);

private:
    mutable std::mutex m_mutex;
    QHash<QByteArray, SmallLayout> m_layouts;
};

struct LayoutBatch {
    std::vector<SmallGraph> graphs;
    std::vector<SmallLayout> layouts;  // by graph
    std::vector<bool> waiting;         // by graph: the helper is to lay it out
    std::vector<int> twin;             // by graph: an earlier one whose layout differs only in heights; -1: none
    std::size_t missing = 0;           // the number of graphs that wait
    std::string requests;              // to the helper, framed; ids count from the first graph's
};

// Chains, cached graphs and those too large for the helper are laid out at once. Among equal graphs, the first waits for
// the helper (`missing` graphs do), and the others wait for followTwins(). After a stop, the batch is useless and returned
// early. Takes near-linear time.
LayoutBatch prepareBatch(std::vector<SmallGraph> graphs, qint64 firstId, LayoutCache& cache,
                         const std::stop_token& stop);

// Lays out the graphs in this process that the helper has not laid out.
void finishBatch(LayoutBatch& batch, LayoutCache& cache, const std::stop_token& stop);

// Call once no graph is waiting: gives graphs with a twin their layouts.
void followTwins(LayoutBatch& batch);

// The layout in an answer of the helper; nullopt if the answer is malformed.
std::optional<SmallLayout> layoutFrom(const json::Value& answer);

}  // namespace hopscope::graphview
