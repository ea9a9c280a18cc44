#pragma once

// Private to executor: a loop whose tables do not fit into memory. Its destinations are computed in windows, one after the
// other. The rows of tables that a window asks for by a key are brought into memory in one pass over each table, its own
// rows are read ahead of its tiles, and what it computes is on its way to the disk at once. Tiles, and with them the bits
// of results, are the same as without windows.

#include <algorithm>

#include "executor/events.h"
#include "executor/kept_rows.h"
#include "executor/session.h"
#include "executor/window.h"

namespace hopscope::executor {

class TableStream {
public:
    // For a loop in tiles. nullptr: its tables and results fit into memory, lie in memory, are computed in another order than
    // they lie in, or other processes write to them. Constant time but for passes over the names of this process's mappings
    // where they do not fit.
    static std::unique_ptr<TableStream> of(Session& session, const LoopProgram& program);

    // As many of these destinations as have room for what they ask for, from the first one on, but at least a tile; nobody
    // may use the window before any more. Linear in what they ask for, and one pass over each table for the rows that the
    // window before has not asked for.
    Window next(const Destinations& left);
    // To be told of each window at its end.
    void finished(const Window& window) { m_read += window.bytesAhead(); }

    [[nodiscard]] std::int64_t windows() const { return m_windows; }
    // Bytes that have been read from files, and bytes of the tables in these.
    [[nodiscard]] std::int64_t read() const { return m_read; }
    [[nodiscard]] std::int64_t fileBytes() const;

private:
    using Sets = std::map<ir::SpaceId, graph::RowSet>;

    TableStream(Session& session, const LoopProgram& program, std::int64_t memory);
    template <class Visit>
    void eachTable(Visit&& visit);
    std::int64_t tableBytes();
    bool findTables();
    void includeFile(ir::ValueId value, std::vector<ir::ValueId>& list);
    [[nodiscard]] bool exceedsMemory(std::int64_t tables) const;
    [[nodiscard]] std::int64_t writtenRowBytes() const;
    [[nodiscard]] std::int64_t ownRowBytes() const;
    [[nodiscard]] std::int64_t pieceRows() const;
    [[nodiscard]] int pieces() const;
    [[nodiscard]] std::int64_t bytes(Sets& sets) const;
    [[nodiscard]] ir::SpaceId spaceOf(ir::ValueId table) const { return m_session.analysis.rowSpace(table); }
    [[nodiscard]] std::int64_t room() const;
    [[nodiscard]] bool keeps(ir::ValueId v) const { return std::ranges::find(m_gathered, v) != m_gathered.end(); }
    Destinations choose(const Destinations& left, Sets& sets);
    Destinations withOwnRows(const Destinations& window, Sets& sets);
    void mark(const Destinations& destinations, Sets& sets);
    KeptRows& keptRows(ir::ValueId table, std::int64_t count);
    void load(Window& window, Sets&& sets);

    Session& m_session;
    const LoopProgram& m_program;
    const std::int64_t m_memory;   // bytes that tables and results may take
    const std::int64_t m_forRows;  // bytes of them for rows that are brought in: no more than --memory leaves
    std::vector<Ask> m_asks;
    std::map<ir::ValueId, FileTable> m_files;
    std::vector<ir::ValueId> m_gathered, m_own;  // of them: read by a key; rows of destinations
    std::map<ir::ValueId, KeptRows> m_kept;
    std::int64_t m_windows = 0, m_read = 0;
};

}  // namespace hopscope::executor
