#pragma once

// Private to executor: computes a loop on a CPU in tiles, small batches that each run on one core from end to end.
//
// If no frontier is built, the cost of a batch is only that of its own rows, so it may be small: its values stay in the
// core's cache, the next batch reuses its buffers instead of fresh memory, and cores wait for each other only at the
// end of the loop. Tiles depend only on the plan and the graph: sizes of products, and with them the last bits of
// results, are the same for any number of cores and any memory limit that a tile fits into.

#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "executor/loop/loop.h"
#include "executor/stores/window.h"

namespace hopscope::executor {

struct TilingRequest {
    std::optional<std::int64_t> batch;  // destinations per batch, if the caller sets them; there are no tiles then
    std::optional<std::int64_t> tile;   // destinations per tile; nullopt: chosen by the bytes that a tile works on
    double budget = 1;                  // bytes for all workers together
    int threads = 1;
    base::StoreType store = base::StoreType::Exact;
};

// Returns the tiles of a loop that is compiled for them; nullopt if it has a frontier, if there would be only a few
// tiles of the chosen size, or if a tile does not fit into the budget. Constant time.
std::optional<Tiling> tilingOf(const analysis::Analysis& analysis, Structure& structure, const LoopProgram& program,
                               const TilingRequest& request);

class Tiles {
public:
    Tiles(Session& session, const LoopProgram& program, LoopSizer& sizer, LoopBooks& books, const Tiling& tiling);

    // Computes a range of the loop's destinations, or those of a window. Tiles begin at the same destinations for any
    // range. Rethrows a worker's exception. A tile that runs out of memory is computed again alone, if necessary in
    // smaller batches; from then on the number of workers is halved.
    void run(const Destinations& range) { run(range, nullptr); }
    void run(Window& window) { run(window.range(), &window); }

private:
    // A tile that has been computed. It is reported and merged once all tiles before it have been.
    struct Finished {
        BatchFigures figures;
        Contributions contributions;
    };
    class Worker;
    struct Done;

    void run(const Destinations& range, Window* window);
    std::optional<Destinations> take();
    void work(Worker& worker);
    void finish(const Destinations& tile, Finished finished);
    void report();
    void tell();
    void redo();
    [[nodiscard]] BatchFigures shared(BatchFigures figures) const;

    Session& m_session;
    const LoopProgram& m_program;
    LoopSizer& m_sizer;
    LoopBooks& m_books;
    std::int64_t m_rows;
    int m_workers;
    Destinations m_range;
    Window* m_window = nullptr;  // of the range

    std::mutex m_mutex;                           // guards the members below
    std::int64_t m_next = 0;                      // first destination that is not taken
    std::int64_t m_reported = 0;                  // first destination that is not merged
    std::int64_t m_end = 0;                       // of the range
    std::vector<Destinations> m_failed;           // for lack of memory
    std::map<std::int64_t, Finished> m_finished;  // by first destination
    std::optional<BatchFigures> m_untold;         // figures of tiles not yet reported to the observer
    double m_told = 0, m_ended = 0;               // time of its last report; end of the last reported tile
};

}  // namespace hopscope::executor
