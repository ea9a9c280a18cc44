#pragma once

// Finds the k-hop neighbourhood of some destination rows: the rows of each declared table that they depend on. Each of
// k rounds adds all rows that are aggregated into rows found before. With every row, the rows to which its key columns
// refer are added.

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
    // Makes an empty neighbourhood. Call prepareRounds() on `structure` first, which must outlive the object. Needs a
    // byte for each row of each table, in scratch files.
    static base::Result<Neighbourhood> create(const Structure& structure, const std::string& folder);

    // Replaces the neighbourhood by that of `seeds` after `rounds` rounds. Calls `fits` with the current sizes every
    // few thousand rows and at the end; stops and returns false if it returns false.
    bool expand(const std::vector<Seed>& seeds, int rounds, const std::function<bool(const TableSizes&)>& fits);

    // Adds an edge between rows outside the neighbourhood to each empty relation, if there is such an edge, and a row
    // to each other empty table, because some models fail on these. Does not change results for the seeds.
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
    std::vector<Seed> m_open;  // rows whose key columns have not been followed yet
};

}  // namespace hopscope::verify
