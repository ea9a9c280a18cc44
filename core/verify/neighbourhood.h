#pragma once

// The rows of every declared table on which a few destination rows depend: k rounds, each of which adds all rows that are
// aggregated into a known row, and with every row the rows its key columns name.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/result.h"
#include "verify/structure.h"

namespace hopscope::verify {

using Seed = std::pair<ir::SpaceId, std::int64_t>;  // table and row

class Neighbourhood {
public:
    // `structure` must outlive this and be prepared. Memory: a byte per row of each table, in scratch files.
    static base::Result<Neighbourhood> create(const Structure& structure, const std::string& folder);

    // Takes `rounds` rounds from `seeds`. False as soon as `fits` says that the sizes reached are too large; it is asked
    // every few thousand rows and at the end.
    bool expand(const std::vector<Seed>& seeds, int rounds, const std::function<bool(const TableSizes&)>& fits);

    // A relation without rows makes some models fail: adds one edge between rows outside the neighbourhood where there is
    // one, and one row of each empty table. It cannot change what the seeds depend on.
    void fillEmptyTables();

    [[nodiscard]] bool contains(ir::SpaceId table, std::int64_t row) const;
    [[nodiscard]] const TableSizes& sizes() const { return m_sizes; }

private:
    using Rows = std::map<ir::SpaceId, std::vector<std::int64_t>>;

    explicit Neighbourhood(const Structure& structure) : m_structure(&structure) {}
    void clear();
    bool mark(ir::SpaceId table, std::int64_t row);
    void add(ir::SpaceId table, std::int64_t row, Rows& added);
    bool round(const Rows& frontier, Rows& next, const std::function<bool(const TableSizes&)>& fits);
    void addDistantEdge(ir::SpaceId relation);
    [[nodiscard]] bool distant(ir::SpaceId relation, std::int64_t row) const;

    const Structure* m_structure;
    std::map<ir::SpaceId, std::shared_ptr<std::byte>> m_marks;
    TableSizes m_sizes;
    std::vector<Seed> m_open;  // rows whose key columns are still to be followed
};

}  // namespace hopscope::verify
