#pragma once

// Private to executor: gathers the finished destinations of a loop into chunks for the journal.

#include <string>
#include <vector>

#include "executor/batch/batch.h"

namespace hopscope::executor {

struct BatchFigures;

// The number of a loop: its stage, and its position within it, both from 1.
struct LoopNumber {
    plan::StageId stage{1};
    int loop = 1;
    auto operator<=>(const LoopNumber&) const = default;
};

class ChunkLog {
public:
    ChunkLog(Session& session, const LoopProgram& program, const LoopNumber& number);

    // Adds a batch or a tile whose rows have been stored and whose contributions have been merged. Call it in the order
    // of the destinations, which may have gaps. Does nothing without a journal.
    void add(const BatchFigures& finished);
    // Appends the destinations added so far to the journal. `last`: the loop has ended; otherwise this may be deferred
    // if the totals of reductions are large.
    void close(bool last);
    // From now on, destinations that follow each other without a gap form one chunk.
    void keepWhole() { m_whole = true; }

private:
    void begin(const BatchFigures& finished);
    void write();
    void addTotals();
    void removeOlder();
    std::string writeParts(bool shared);
    [[nodiscard]] bool continues(const BatchFigures& next) const;
    [[nodiscard]] double totalsBytes() const;

    Session& m_session;
    const LoopProgram& m_program;
    Chunk m_chunk;  // empty: count is 0
    std::int64_t m_lastTile = 0;
    std::vector<std::vector<graph::Digest>> m_digests;  // by value, of the tiles
    std::vector<Contributions> m_parts;                 // of each tile; or, without other processes, the totals
    bool m_whole = false;
    std::string m_before, m_older;  // files of totals
    double m_written = 0;
};

// Return the name of the file with the totals over all destinations before `end`, and of the one with the contributions
// of each tile of a chunk.
std::string totalsFile(const LoopNumber& number, std::int64_t end);
std::string partsFile(const LoopNumber& number, std::int64_t first, std::int64_t end);

// Returns the operators of a loop's reductions.
std::vector<ir::OpId> reducedOps(const LoopProgram& program);

// Reads a file of totals into the reducers of the loop. Returns false, without changing anything, if it is missing or
// damaged.
bool readTotals(Session& session, const LoopProgram& program, const std::string& file);

}  // namespace hopscope::executor
