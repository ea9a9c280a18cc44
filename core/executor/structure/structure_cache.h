#pragma once

// Private to executor: caches parts of a structure in a folder, for later runs with the same edges
// (graph/array_cache.h).
//
// The name of a part is derived from all of its inputs: the numbers of its key columns, the sizes of tables, and the
// orders of nodes. Parts that are computed faster than they are read are not cached. Since others may write to the
// folder, a cached part is used only if all of its numbers lie within their table and a random sample agrees with the
// edges.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/reorder.h"
#include "executor/structure/key_columns.h"
#include "executor/structure/owned_column.h"
#include "graph/array_cache.h"
#include "graph/node_order.h"

namespace hopscope::executor {

// Identifies the edges of `table`, grouped by their keys `owner`, and the column of their keys `key`.
struct EdgeKeys {
    ir::SpaceId table;
    ir::KeyId owner, key;
};

// Finds and stores cached parts. Not thread-safe.
class StructureCache {
public:
    StructureCache(std::string folder, const analysis::Tables& tables, KeyColumns& columns, SizeOf size, int threads)
        : m_files(std::move(folder), threads),
          m_tables(tables),
          m_columns(columns),
          m_size(std::move(size)),
          m_threads(threads)
    {}

    // Returns whether the table has enough rows for its structures to be cached.
    [[nodiscard]] bool keeps(ir::SpaceId space) const { return m_size(space) >= leastRows; }

    // Returns the adjacency in the folder, or the result of `make`, which is then cached there. `targetOf` returns the
    // target of a row.
    graph::Adjacency adjacency(ir::SpaceId space, ir::KeyId key,
                               const std::function<std::int64_t(std::int64_t)>& targetOf,
                               const std::function<graph::Adjacency()>& make);
    // Returns the column in the folder, or the result of `make`, which is then cached there. `places` are the positions
    // of the rows that the keys refer to, if rows are numbered by positions.
    OwnedColumn column(const EdgeKeys& keys, Numbers numbers, const graph::Adjacency& order, const std::int64_t* places,
                       const std::function<OwnedColumn()>& make);

    // Returns the order that an earlier run has found for the targets of `keys.owner`.
    std::optional<graph::NodeOrder> findOrder(const EdgeKeys& keys, base::Reorder how);
    void keepOrder(const EdgeKeys& keys, base::Reorder how, const graph::NodeOrder& order);
    // From now on, the nodes of the type are in this order.
    void arrange(ir::SpaceId type, const graph::NodeOrder& order);

    // Returns the error if something could not be cached.
    [[nodiscard]] const std::optional<base::Error>& problem() const { return m_problem; }

private:
    static constexpr std::int64_t leastRows = 1 << 16;  // smaller structures are computed faster than files are opened

    std::string numbersOf(ir::SpaceId space, ir::KeyId key);
    std::string orderOf(ir::SpaceId type) const;
    std::string nameOf(ir::SpaceId space, ir::KeyId key);
    std::string nameOf(const EdgeKeys& keys, Numbers numbers);
    std::string nameOf(const EdgeKeys& keys, base::Reorder how);
    [[nodiscard]] std::optional<graph::ArrayCache::Entry> find(const std::string& name) const;
    [[nodiscard]] bool isAlong(const OwnedColumn& column, const EdgeKeys& keys, const graph::Adjacency& order,
                               const std::int64_t* places);
    void keep(const std::string& name, std::span<const graph::ArrayCache::Bytes> arrays);

    graph::ArrayCache m_files;
    const analysis::Tables& m_tables;
    KeyColumns& m_columns;
    SizeOf m_size;
    int m_threads;
    std::map<std::pair<ir::SpaceId, ir::KeyId>, std::string> m_numbers;
    std::map<ir::SpaceId, std::string> m_orders;
    std::optional<base::Error> m_problem;
};

}  // namespace hopscope::executor
