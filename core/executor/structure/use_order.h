#pragma once

// Private to executor: orders the rows of a table by how often columns of row numbers refer to them.

#include <compare>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "executor/structure/owned_column.h"
#include "ir/rows.h"

namespace hopscope::executor {

// A column along which rows of a table are gathered: the key `key` of `space`, in the order of the adjacency of `owner`.
struct GatherColumn {
    ir::SpaceId space;
    ir::KeyId owner, key;
    auto operator<=>(const GatherColumn&) const = default;
};
using GatherColumns = std::set<GatherColumn>;

// PositionRange [begin, end) of an adjacency.
using PositionRange = std::pair<std::int64_t, std::int64_t>;

class Structure;

// Counts uses at the first call and keeps the result. Thread-safe. References remain valid for the lifetime of the object.
class UseOrders {
public:
    // `structure`, which must outlive the object, has the columns.
    explicit UseOrders(Structure& structure) : m_structure(structure) {}

    // Returns the place of each row of a table, from 0 for the one to which `columns` refer most. Rows with the same
    // count are in the order of their numbers, as are those with more than a million references. The table has at most
    // 2^31 - 1 rows. On all cores.
    const std::vector<std::int32_t>& places(ir::SpaceId table, const GatherColumns& columns);
    // Returns how often a column refers to rows whose places are `first` or later: at all positions, or at some of them.
    // On all cores.
    std::int64_t usesFrom(const GatherColumn& column, const std::vector<std::int32_t>& places, std::int64_t first,
                          std::optional<PositionRange> positions = std::nullopt);

private:
    using Counted = std::tuple<GatherColumn, const void*, std::int64_t>;  // column, places, first

    Structure& m_structure;
    std::mutex m_mutex;
    std::map<GatherColumns, std::vector<std::int32_t>> m_places;
    std::map<Counted, std::int64_t> m_uses;  // at all positions
};

}  // namespace hopscope::executor
