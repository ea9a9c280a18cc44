#pragma once

// Lays out a batch of small graphs: some layouts are cached, some graphs are sent to the helper process, and the rest
// are laid out here. The functions are plain, for use on worker threads.

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

// Layouts by the contents of their graphs, shared by all threads.
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
    std::string requests;              // to the helper, framed; ids count up from that of the first graph
};

// Lays out at once chains, cached graphs and those too large for the helper. Of several equal graphs, the first one
// waits for the helper (`missing` graphs do), and the others wait for followTwins(). Returns early after a stop; the
// batch is useless then. Takes near-linear time.
LayoutBatch prepareBatch(std::vector<SmallGraph> graphs, qint64 firstId, LayoutCache& cache,
                         const std::stop_token& stop);

// Lays out in this process the graphs that the helper has not laid out.
void finishBatch(LayoutBatch& batch, LayoutCache& cache, const std::stop_token& stop);

// Gives graphs with a twin their layouts. Call it once no graph is waiting.
void followTwins(LayoutBatch& batch);

// Returns the layout in an answer of the helper, or nullopt if the answer is malformed.
std::optional<SmallLayout> layoutFrom(const json::Value& answer);

}  // namespace hopscope::graphview
