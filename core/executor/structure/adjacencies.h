#pragma once

// Private to executor: provides the rows of tables by their keys, the numbers of other rows in the same order, and the
// orders of nodes in which both are arranged.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "executor/structure/key_columns.h"
#include "executor/structure/owned_column.h"
#include "executor/structure/structure_cache.h"
#include "graph/adjacency.h"
#include "graph/node_order.h"
#include "kernels/segment.h"

namespace hopscope::executor {

// Builds each adjacency and column at the first call and keeps it. Not thread-safe. References remain valid for the
// lifetime of the object.
class Adjacencies {
public:
    // `checkStop` raises Cancelled if a stop was requested; it is called before long operations.
    Adjacencies(const analysis::Tables& tables, const graph::Scratch& scratch, KeyColumns& columns, SizeOf size,
                std::function<void()> checkStop, int threads)
        : m_tables(tables),
          m_scratch(scratch),
          m_columns(columns),
          m_size(std::move(size)),
          m_checkStop(std::move(checkStop)),
          m_threads(threads)
    {}

    // Returns the adjacency whose targets are in the order of the positions of their type.
    const graph::Adjacency& adjacency(ir::SpaceId space, ir::KeyId key);
    // Returns an adjacency that has been requested before, otherwise nullptr.
    [[nodiscard]] const graph::Adjacency* known(ir::SpaceId space, ir::KeyId key) const;
    const OwnedColumn& column(const EdgeKeys& keys, Numbers numbers);
    // Returns the parts into which kernels divide the rows with many edges, by target.
    const std::vector<kernels::HubPiece>& hubPieces(ir::SpaceId space, ir::KeyId key);
    // Returns whether the numbers of the rows that a key refers to need 64 bits.
    [[nodiscard]] bool isWide(ir::SpaceId space, ir::KeyId key) const;

    // See the functions of Structure.
    void cacheIn(const std::string& folder);
    StructureCache* cache() { return m_cache ? &*m_cache : nullptr; }
    void readColumnsInPlace() { m_columnsInPlace = true; }
    void arrangeNodes(ir::SpaceId type, graph::NodeOrder order);
    [[nodiscard]] const std::int64_t* nodeAt(ir::SpaceId type) const;
    [[nodiscard]] const std::int64_t* placeOf(ir::SpaceId type) const;

private:
    using Name = std::pair<ir::SpaceId, ir::KeyId>;
    using ColumnName = std::tuple<ir::SpaceId, ir::KeyId, ir::KeyId, Numbers>;

    graph::Adjacency built(ir::SpaceId space, ir::KeyId key);
    graph::Adjacency builtFrom(const Column& keys, ir::SpaceId target);
    graph::Adjacency arrangedFrom(const Name& name, const graph::Adjacency& adjacency);
    void arrangeColumns(const Name& name, const graph::Adjacency& from, const graph::Adjacency& to);
    OwnedColumn along(const EdgeKeys& keys);
    OwnedColumn copiedAlong(const graph::Adjacency& order, const EdgeKeys& keys);
    OwnedColumn inPlacesAlong(const EdgeKeys& keys, const std::int64_t* places);
    // Returns whether structures of this table that are slow to build are cached.
    [[nodiscard]] bool caches(ir::SpaceId space) const;

    const analysis::Tables& m_tables;
    const graph::Scratch& m_scratch;
    KeyColumns& m_columns;
    SizeOf m_size;
    std::function<void()> m_checkStop;
    int m_threads;
    bool m_columnsInPlace = false;
    std::optional<StructureCache> m_cache;
    std::map<ir::SpaceId, graph::NodeOrder> m_nodeAt, m_placeOf;
    std::map<Name, graph::Adjacency> m_adjacencies;
    std::map<Name, std::vector<kernels::HubPiece>> m_pieces;
    std::map<ColumnName, OwnedColumn> m_owned;
};

}  // namespace hopscope::executor
