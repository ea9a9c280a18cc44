#pragma once

// Private to executor: builds the block of a batch, that is, its rows in every table: those owned by the destinations
// (slices of adjacencies, hence sorted by destination), the frontier, and their local row numbers. It uses all cores
// and is linear in the rows of the batch, and in a small share of the table's rows (frontier.h).

#include <map>

#include "executor/structure.h"
#include "plan/plan.h"

namespace hopscope::executor {

// The destinations [first, first + count) of the loop's type, or that range of `order`, by their positions
// (Structure::arrangeNodes). Positions are row numbers unless the type has an order of its own.
struct Destinations {
    std::int64_t first = 0, count = 0;
    const std::int64_t* order = nullptr;

    [[nodiscard]] std::int64_t operator[](std::int64_t i) const { return order ? order[first + i] : first + i; }
    [[nodiscard]] bool ascending() const { return order == nullptr; }
};

// A batch's part of an adjacency, without a copy: the columns of all positions, and the offsets of the batch's
// destinations, which begin at position `first`. Valid for the lifetime of the structure.
struct AdjacencySlice {
    at::Tensor columns;  // 32 or 64 bits
    at::Tensor offsets;  // destinations + 1
    std::int64_t first = 0, count = 0;
};

// Returns whether the key's columns, in the order of the adjacency that owns the rows, are kept as a whole.
inline bool isSliced(const ir::RowClass& on, ir::SpaceId space, ir::KeyId key)
{
    return on.kind == ir::RowKind::Owned && on.table == space && on.key != key;
}

class FrontierNumbers;

class Block {
public:
    Block(Structure& structure, const analysis::Analysis& analysis, const plan::Loop& loop);

    void begin(const Destinations& destinations);
    // Frees row numbers that have been copied, so that the next batch can use their memory; keeps rows and their
    // counts.
    void dropNumbers();
    void end();  // resets the entries that the batch touched, not whole tables

    [[nodiscard]] const Destinations& destinations() const { return m_batch; }
    // Returns whether the rows are a contiguous range of destinations in every table with this numbering.
    [[nodiscard]] bool isRange(const ir::RowClass& rows, Numbers numbers = Numbers::Input) const
    {
        return isBatch(rows) && m_batch.ascending() && (numbers == Numbers::Places || !m_nodeAt);
    }
    std::int64_t count(const ir::RowClass& rows);
    // Returns the global row numbers, in local order.
    at::Tensor rows(const ir::RowClass& rows);
    // Returns the same rows, numbered by their positions, for rows of nodes.
    at::Tensor places(const ir::RowClass& rows);
    // Returns, for each row of `on`, the local number within `in` of the row that the key of table `space` refers to.
    at::Tensor positions(const ir::RowClass& on, ir::SpaceId space, ir::KeyId key, const ir::RowClass& in);
    // Returns, for each row of `on`, the global number of the row that the key refers to.
    at::Tensor globals(const ir::RowClass& on, ir::SpaceId space, ir::KeyId key, Numbers numbers = Numbers::Input);
    // Returns the same without computing anything, if the destinations are consecutive and own the rows.
    std::optional<AdjacencySlice> slice(const ir::RowClass& on, ir::SpaceId space, ir::KeyId key,
                                        Numbers numbers = Numbers::Input);
    // Returns, for each row of a Filter or Perm class, the local number within `in` of its row in the parent table.
    at::Tensor parentPositions(const ir::RowClass& on, const ir::RowClass& in);
    // Returns, for each row of a Cat class, its number in the concatenation of the parts' local rows.
    at::Tensor concatPositions(const ir::RowClass& on, const std::vector<ir::RowClass>& parts);
    // Returns the first row of each destination within the class, and the end of the last one: destinations + 1
    // numbers.
    at::Tensor offsets(const ir::RowClass& owned);

    // Returns the number of rows of an owned class for different destinations. Constant time if they are ascending.
    std::int64_t countFor(const ir::RowClass& owned, const Destinations& destinations);
    // Returns the bytes of the row numbers computed for this batch.
    [[nodiscard]] std::int64_t structureBytes() const { return m_structureBytes; }

private:
    // Maps global to local row numbers of a class. Local numbers start at 1; 0 means that the row is not in the batch,
    // so that freshly mapped memory needs no initialisation, and only its touched pages are allocated.
    struct Map {
        std::shared_ptr<std::byte> bytes;
        at::Tensor touched;
        std::int32_t* entries = nullptr;
        std::int64_t size = 0;
    };
    Map& map(const ir::RowClass& rows);
    Map& emptyMap(const ir::RowClass& rows);
    void fill(Map& map, const at::Tensor& rows);
    void reset(Map& map);
    void buildFrontier(ir::SpaceId type);
    void numberFrontier(ir::SpaceId type, Map& map, FrontierNumbers& numbers);
    at::Tensor look(const ir::RowClass& in, const at::Tensor& globalRows);
    at::Tensor makeRows(const ir::RowClass& rows);
    at::Tensor makeGlobals(const ir::RowClass& on, ir::SpaceId space, ir::KeyId key, Numbers numbers);
    at::Tensor placesOf(ir::SpaceId type, const at::Tensor& nodes) const;
    template <class Fill>
    at::Tensor alongAdjacency(const ir::RowClass& owned, Fill&& fill);
    at::Tensor makeOffsets(const ir::RowClass& owned);
    at::Tensor ordinals(const ir::RowClass& owned);
    bool isBatch(const ir::RowClass& rows) const { return rows.kind == ir::RowKind::Batch; }
    ir::RowClass ownedBy(ir::SpaceId space, ir::KeyId owner) const;

    Structure& m_structure;
    const analysis::Analysis& m_analysis;
    const plan::Loop& m_loop;
    const std::int64_t* m_nodeAt;  // the row numbers of the loop's destinations; null: positions are row numbers
    Destinations m_batch;
    std::map<ir::RowClass, Map> m_maps;
    std::map<ir::RowClass, at::Tensor> m_rows, m_offsets;
    std::map<std::tuple<ir::RowClass, ir::SpaceId, ir::KeyId, ir::RowClass>, at::Tensor> m_positions;
    std::map<std::tuple<ir::RowClass, ir::SpaceId, ir::KeyId, Numbers>, at::Tensor> m_globals;
    std::int64_t m_structureBytes = 0;
};

}  // namespace hopscope::executor
