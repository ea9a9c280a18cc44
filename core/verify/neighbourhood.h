#pragma once

// The k-hop neighbourhood of some destination rows: the rows of each declared table that they depend on. Each of k
// rounds adds all rows that are aggregated into rows already known; with every row, the rows that its key columns refer
// to are added.

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
    // `structure` must outlive this, after prepareRounds(). Needs a byte per row of each table, in scratch files.
    static base::Result<Neighbourhood> create(const Structure& structure, const std::string& folder);

    // Starts again from `seeds` and takes `rounds` rounds. Stops and returns false if `fits` returns false; it is
    // called with the current sizes every few thousand rows and at the end.
    bool expand(const std::vector<Seed>& seeds, int rounds, const std::function<bool(const TableSizes&)>& fits);

    // Some models fail if a relation has no edges. Adds an edge between rows outside the neighbourhood to each empty
    // relation, if there is such an edge, and a row to each other empty table. Does not change results for the seeds.
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
