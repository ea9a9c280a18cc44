#pragma once

// Private to receptive: represents sets of rows of one table, and maps them to the rows of other tables as operators
// do. Edges into a set of nodes are represented by the nodes: they are counted by offsets and visited in the order of
// the adjacency.

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "executor/structure.h"

namespace hopscope::receptive {

struct Rows;
using RowsPtr = std::shared_ptr<const Rows>;

// A set of rows: all rows of the table, those that `owner` assigns to the rows of `owners`, or those in `list`, which
// are distinct.
struct Rows {
    ir::SpaceId table;
    std::int64_t count = 0;
    bool all = false;
    ir::KeyId owner;
    RowsPtr owners;
    std::vector<std::int64_t> list;
};

// Maps sets of rows between tables. Not thread-safe. May raise the same errors as executor::Structure.
class RowMoves {
public:
    RowMoves(executor::Structure& structure, const analysis::Analysis& analysis)
        : m_structure(structure),
          m_analysis(analysis)
    {}

    RowsPtr one(ir::SpaceId table, std::int64_t row);
    RowsPtr all(ir::SpaceId table);
    // Returns the rows of `space` that its `key` assigns to `owners`. O(owners).
    RowsPtr owned(ir::SpaceId space, ir::KeyId key, const RowsPtr& owners);
    // Returns the rows to which `key` of table `space` refers from `rows`, each once. O(rows).
    RowsPtr targets(ir::SpaceId space, ir::KeyId key, const RowsPtr& rows);
    // Returns the rows of the parent from which rows of a Filter or Perm table are made.
    RowsPtr parents(const RowsPtr& rows);
    // Returns the rows of part number `part` from which rows of a Cat table are made.
    RowsPtr part(const RowsPtr& rows, std::size_t part);
    RowsPtr unite(const RowsPtr& a, const RowsPtr& b);
    // Returns the numbers of the rows, in ascending order.
    std::vector<std::int64_t> listed(const Rows& rows);

    // Forgets the results for all sets. Call it between two nodes.
    void forget() { m_known.clear(); }
    // Returns the number of rows visited so far, a measure of the work.
    [[nodiscard]] std::int64_t visited() const { return m_visited; }

private:
    template <class Visit>
    void each(const Rows& rows, Visit&& visit);
    template <class Visit>
    void eachKey(ir::SpaceId space, ir::KeyId key, const Rows& rows, Visit&& visit);
    RowsPtr listing(const Rows& rows);
    // Collects each row of a table once.
    class Collector;
    struct Marks {
        std::vector<std::uint32_t> round;
        std::uint32_t now = 0;
    };
    enum class Move : std::uint8_t { Owned, Targets, Parents, Part, Unite };
    using Known = std::tuple<Move, const Rows*, std::int64_t, std::int64_t>;
    // A derived set, and the sets from which it was made. These are kept because their addresses identify the result.
    struct Made {
        RowsPtr rows, from, other;
    };
    template <class Make>
    RowsPtr once(Known known, const RowsPtr& from, Make&& make, const RowsPtr& other = {});

    executor::Structure& m_structure;
    const analysis::Analysis& m_analysis;
    std::map<ir::SpaceId, Marks> m_marks;
    std::map<Known, Made> m_known;
    std::int64_t m_visited = 0;
};

}  // namespace hopscope::receptive
