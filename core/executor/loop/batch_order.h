#pragma once

// Private to executor: deals the tiles of a loop to several GPUs, and accounts for batches in the order of their
// destinations, whichever GPU has computed them.

#include <map>
#include <vector>

#include "executor/loop/loop.h"
#include "executor/rows/ranges.h"

namespace hopscope::executor {

// Thread-safe. The observer is notified by whichever thread completes the sequence.
class BatchOrder {
public:
    // `ranges` contains the destinations that will be computed, in ascending order. The arguments must outlive the
    // object.
    BatchOrder(Session& session, LoopBooks& books, Ranges ranges);

    // Takes a batch whose rows have been stored, and merges its contributions. Both wait until all batches before it
    // are finished.
    void finished(BatchFigures figures, Contributions contributions);
    // See LoopBooks.
    void tooLarge(LoopSizer& sizer, const Destinations& destinations);
    // Adds row numbers that the host has made to the report.
    void numbered(std::int64_t count);

private:
    struct Waiting {
        BatchFigures figures;
        Contributions contributions;
    };
    void advance(std::int64_t destinations);

    Session& m_session;
    LoopBooks& m_books;
    Ranges m_left;                              // the first one begins with the next destination to be accounted for
    std::size_t m_range = 0;                    // of these
    std::map<std::int64_t, Waiting> m_waiting;  // by first destination
};

// Divides destinations among GPUs: each piece of one or several tiles, in order, goes to the GPU with the least work so
// far. Returns ascending ranges of whole tiles, some 32 of them, by GPU. Linear in the destinations.
std::vector<Ranges> dealTiles(Session& session, const LoopProgram& program, const Ranges& ranges, std::size_t gpus);

}  // namespace hopscope::executor
