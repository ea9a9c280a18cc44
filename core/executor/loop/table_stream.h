#pragma once

// Private to executor: runs a loop whose tables do not fit into memory. Its destinations are computed in windows, one
// after the other. One pass over each table brings the rows that a window requests by a key into memory; the window's
// own rows are read ahead of its tiles, and its results are flushed to the disk at once. Tiles, and with them the bits
// of results, are the same as without windows.

#include <algorithm>
#include <functional>

#include "executor/events.h"
#include "executor/session/session.h"
#include "executor/stores/kept_rows.h"
#include "executor/stores/window.h"

namespace hopscope::executor {

// Returns whether the loop numbers rows as in the input, as windows do.
bool inOrder(const Session& session, const LoopProgram& program);

class TableStream {
public:
    // Returns a stream for a loop in tiles, and for the next loop, if there is one. Returns nullptr if tables and
    // results fit into memory or are already there, if they are computed in an order that differs from that of the
    // file, or if other processes write to them. Takes over, or drops, the rows that the previous loop left in memory.
    // Constant time if tables and results fit; otherwise, it also reads the names of this process's mappings.
    static std::unique_ptr<TableStream> of(Session& session, const LoopProgram& program, const LoopProgram* next);
    ~TableStream();
    TableStream(const TableStream&) = delete;
    TableStream& operator=(const TableStream&) = delete;

    // Returns a window of these destinations, from the first one on: as many as there is memory for the rows that they
    // request, but at least a tile. Invalidates the previous window. Linear in the requested rows, with one pass over
    // each table for those that are not in memory yet. In the last window, rows that the next loop will read remain in
    // memory while there is room.
    std::unique_ptr<Window> next(const Destinations& left);
    // Ends a window, and leaves rows in memory for the next loop. Call it at the end of each window.
    void finished(const Window& window);

    [[nodiscard]] std::int64_t windows() const { return m_windows; }
    // Return the bytes that have been read from files, and the bytes of the tables in these files.
    [[nodiscard]] std::int64_t read() const { return m_read; }
    [[nodiscard]] std::int64_t fileBytes() const;

private:
    using Sets = std::map<ir::SpaceId, graph::RowSet>;
    using RowBytes = std::map<ir::ValueId, std::int64_t>;  // rows of tables that are read by a key
    using SharedSets = std::map<ir::SpaceId, std::shared_ptr<const graph::RowSet>>;

    TableStream(Session& session, const LoopProgram& program, const LoopProgram* next);
    template <class Visit>
    static void eachTable(const LoopProgram& program, Visit&& visit);
    [[nodiscard]] std::int64_t tableBytes(const LoopProgram& program) const;
    bool findTables();
    void includeFile(ir::ValueId value, bool gathered);
    void takeOver();
    void letGoOfInputs();
    [[nodiscard]] bool exceedsMemory(std::int64_t tables) const;
    [[nodiscard]] std::int64_t usable() const;
    [[nodiscard]] std::int64_t writtenRowBytes() const;
    [[nodiscard]] std::int64_t ownRowBytes() const;
    [[nodiscard]] std::int64_t pieceRows() const;
    [[nodiscard]] int pieces() const;
    [[nodiscard]] std::int64_t room() const;
    [[nodiscard]] std::int64_t bytes(const SharedSets& sets, const RowBytes& tables) const;
    std::int64_t bytes(Sets& sets, const RowBytes& tables) const;
    [[nodiscard]] ir::SpaceId spaceOf(ir::ValueId table) const { return m_session.analysis.rowSpace(table); }
    [[nodiscard]] bool keeps(ir::ValueId v) const { return std::ranges::find(m_gathered, v) != m_gathered.end(); }
    [[nodiscard]] RowBytes gatheredRows() const;
    [[nodiscard]] bool knowsFirst(const Destinations& left) const;
    Destinations choose(const Destinations& left, SharedSets& sets);
    Destinations choose(const LoopProgram& program, const RowBytes& tables, const Destinations& left, std::int64_t room,
                        SharedSets& sets) const;
    // Returns the first destination of the first tile for which fits() holds; it then holds for all later ones and for
    // the end of the range.
    [[nodiscard]] std::int64_t firstThatFits(const Destinations& range,
                                             const std::function<bool(std::int64_t first)>& fits) const;
    [[nodiscard]] std::int64_t firstOwn(const Destinations& window, const SharedSets& sets) const;
    [[nodiscard]] std::int64_t ownBytes(std::int64_t first, const Destinations& window, const SharedSets& sets) const;
    void mark(const LoopProgram& program, const Destinations& destinations, Sets& sets) const;
    KeptRows& rowsIn(std::map<ir::ValueId, KeptRows>& kept, ir::ValueId table, std::int64_t count);
    void load(Window& window, const SharedSets& sets, std::int64_t firstOwn);
    KeptRows& ownRows(ir::ValueId v, Window& window, const graph::RowSet& asked, std::int64_t first,
                      graph::RowSet& missing);

    // The following functions keep the rows that the next loop reads (table_stream_next.cpp).
    void handOn(Window& window, const SharedSets& sets, std::int64_t firstOwn);
    [[nodiscard]] RowBytes askedByNext() const;
    [[nodiscard]] Destinations firstOfNext(const Destinations& window, const SharedSets& sets, SharedSets& asked) const;
    [[nodiscard]] std::map<ir::ValueId, HandedRows::Wanted> wantedNext(const Destinations& next,
                                                                       const SharedSets& asked) const;

    Session& m_session;
    const LoopProgram& m_program;
    const LoopProgram* const m_next;
    HandedOn m_handed;       // from the loop before
    std::int64_t m_memory;   // bytes that tables and results may take
    std::int64_t m_forRows;  // bytes of them for rows read into memory: no more than --memory leaves
    std::map<ir::ValueId, FileTable> m_files;
    std::vector<ir::ValueId> m_gathered, m_own;  // the bytes of them: rows read by a key; rows of destinations
    std::map<ir::ValueId, KeptRows> m_kept, m_ownKept;
    HandedOn m_leaving;  // to the next loop
    std::int64_t m_windows = 0, m_read = 0;
};

}  // namespace hopscope::executor
