#pragma once

// Private to executor: holds in memory the rows of tables in files that a range of a loop's destinations reads.

#include <map>
#include <memory>
#include <mutex>

#include "executor/program/loop_program.h"
#include "executor/stores/kept_rows.h"
#include "executor/stores/read_ahead.h"
#include "executor/structure.h"

namespace hopscope::executor {

// A request for table rows that are read in place, by a key, for each row of a class.
struct Ask {
    ir::ValueId table;
    ir::RowClass on;
    ir::SpaceId space;
    ir::KeyId key;

    bool operator==(const Ask&) const = default;
};

// Returns the requests of a loop, each once, in the order of the instructions.
std::vector<Ask> asksOf(const LoopProgram& program);

// The rows that a range of destinations reads. Threads may use a window concurrently.
class Window {
public:
    explicit Window(const Destinations& range) : m_range(range), m_done(range.first) {}

    [[nodiscard]] const Destinations& range() const { return m_range; }

    // Returns the requested rows of a table that is read in place, consecutively, by ascending number; nullptr if the
    // table itself is to be read.
    [[nodiscard]] const at::Tensor* table(ir::ValueId table) const;
    // Returns the positions, among these rows, of rows given by their numbers (32 or 64 bits).
    [[nodiscard]] at::Tensor places(ir::ValueId table, const at::Tensor& rows) const;

    // Returns a tile's own rows of a table, which are valid until done(). Their offset within a page is that in the
    // file, since it affects the rounding of products. An undefined tensor means that the table itself is to be read.
    [[nodiscard]] at::Tensor own(ir::ValueId table, const Destinations& tile) const;
    // Releases the rows of a tile. Call it once for each tile, even if the tile failed.
    void done(const Destinations& tile);

    // Add rows that remain after the window: add() adds requested rows, and addOwn() adds own rows that no key refers
    // to, whose memory is released after the tiles that use them.
    void add(const FileTable& table, std::shared_ptr<const graph::RowSet> rows, const KeptRows& asked)
    {
        at::Tensor all = rowsAt(asked.data(), rows->count(), table.mapped);
        m_tables[table.value] = {&table, std::move(rows), std::move(all), &asked, nullptr};
    }
    void addOwn(ir::ValueId table, KeptRows& rows) { m_tables.at(table).own = &rows; }
    // From now on, releases that memory to `spare` instead of to the system.
    void giveTo(std::shared_ptr<graph::SparePages> spare) { m_spare = std::move(spare); }
    void readAhead(std::unique_ptr<ReadAhead> own) { m_ahead.push_back(std::move(own)); }
    [[nodiscard]] std::int64_t bytesAhead() const;

private:
    struct Kept {
        const FileTable* file = nullptr;
        std::shared_ptr<const graph::RowSet> rows;
        at::Tensor table;
        const KeptRows* asked = nullptr;
        KeptRows* own = nullptr;
    };
    [[nodiscard]] static at::Tensor gathered(const Kept& kept, const Destinations& tile);
    void release(const Destinations& tile);

    Destinations m_range;
    std::map<ir::ValueId, Kept> m_tables;
    std::vector<std::unique_ptr<ReadAhead>> m_ahead;  // of different tables
    std::shared_ptr<graph::SparePages> m_spare;
    std::mutex m_mutex;                            // guards the members below
    std::int64_t m_done;                           // all destinations before it are
    std::map<std::int64_t, std::int64_t> m_later;  // begin and end of the next such rows
};

}  // namespace hopscope::executor
