#include "executor/loop/tiles.h"

#include <algorithm>

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include "loader/one_thread.h"

namespace hopscope::executor {

namespace {

// The working set of a tile: large enough for operators to be worth their calls, small enough for the caches of a core.
constexpr double tileBytes = 3 << 20;
constexpr std::int64_t rowsStep = 64;
constexpr std::int64_t leastTiles = 16;  // a smaller loop takes milliseconds, however it is run
constexpr double secondsBetween = 0.1;   // between reports to the observer
constexpr std::int64_t mostTold = 64;    // tiles of a loop, but for slow ones: batches are events of the protocol

}  // namespace

std::optional<Tiling> tilingOf(const analysis::Analysis& analysis, Structure& structure, const LoopProgram& program,
                               const TilingRequest& request)
{
    const std::int64_t count = structure.size(program.loop->destination);
    const bool few = count < (request.tile ? *request.tile + 1 : rowsStep * leastTiles);
    if (request.batch || !program.frontiers.empty() || few) return std::nullopt;
    const double all = BatchMemory(analysis, structure, program, false).bytes({0, count}, 1);
    const double perRow = std::max(all / static_cast<double>(count), 1.0);
    const auto fitting = static_cast<std::int64_t>(tileBytes / perRow) / rowsStep * rowsStep;
    const std::int64_t rows = request.tile.value_or(std::max(fitting, rowsStep));
    const double workers = request.budget / (2 * perRow * static_cast<double>(rows));
    const std::int64_t least = request.tile ? rows + 1 : rows * leastTiles;
    if (count < least || workers < 1) return std::nullopt;
    return Tiling{rows, static_cast<int>(std::min<double>(workers, std::max(request.threads, 1)))};
}

class Tiles::Worker {
public:
    Worker(Session& session, const LoopProgram& program, LoopSizer& sizer, const Window* window)
        : m_session(session),
          m_sizer(sizer),
          m_block(session.structure, session.analysis, *program.loop),
          m_batch(session, program, m_block, window)
    {}

    // nullopt if there was not enough memory: then nothing of the tile remains.
    std::optional<Finished> attempt(const Destinations& tile)
    {
        const bool fits = fitsIntoMemory([&] {
            m_block.begin(tile);
            m_batch.compute();
        });
        if (!fits) {
            end();
            return std::nullopt;
        }
        Finished finished;
        finished.contributions = m_batch.takeContributions();
        std::vector<StoredPart> parts = m_batch.store();
        const BatchRows rows{m_sizer.ownedRows(tile), 0};
        finished.figures = figuresOf(m_batch, m_block, rows, m_session.device.memory(), std::move(parts));
        end();
        return finished;
    }

private:
    void end()
    {
        m_batch.clear();
        m_block.end();
    }

    Session& m_session;
    LoopSizer& m_sizer;
    Block m_block;
    Batch m_batch;
};

// Tells the window at the end of a tile, however it ends.
struct Tiles::Done {
    Window* window;
    const Destinations& tile;
    ~Done()
    {
        if (window) window->done(tile);
    }
};

Tiles::Tiles(Session& session, const LoopProgram& program, LoopSizer& sizer, LoopBooks& books, const Tiling& tiling)
    : m_session(session),
      m_program(program),
      m_sizer(sizer),
      m_books(books),
      m_rows(tiling.rows),
      m_workers(tiling.workers)
{}

void Tiles::run(const Destinations& range, Window* window)
{
    m_range = range;
    m_window = window;
    m_next = m_reported = range.first;
    m_end = range.first + range.count;
    for (const ir::ValueId v : wholeOperands(m_program)) m_session.whole(v);
    m_session.device.resetPeak();
    m_told = m_ended = m_session.seconds();
    while (m_reported < m_end) {
        at::parallel_for(0, m_workers, 1, [this](std::int64_t first, std::int64_t last) {
            const c10::InferenceMode inference;
            std::optional<loader::OneThread> alone;  // matrix products would start threads of their own
            if (m_workers > 1) alone.emplace();
            Worker worker(m_session, m_program, m_sizer, m_window);
            for (std::int64_t w = first; w < last; ++w) work(worker);
        });
        redo();
    }
    tell();
}

std::optional<Destinations> Tiles::take()
{
    m_session.checkStop();
    const std::lock_guard lock(m_mutex);
    if (!m_failed.empty() || m_next >= m_end) return std::nullopt;
    const Destinations tile{m_next, std::min(m_rows - m_next % m_rows, m_end - m_next), m_range.order};
    m_next += tile.count;
    return tile;
}

void Tiles::work(Worker& worker)
{
    while (const std::optional<Destinations> tile = take()) {
        const Done done{m_window, *tile};
        if (auto finished = worker.attempt(*tile)) {
            finish(*tile, std::move(*finished));
        } else {
            const std::lock_guard lock(m_mutex);
            m_failed.push_back(*tile);
        }
    }
}

void Tiles::finish(const Destinations& tile, Finished finished)
{
    const std::lock_guard lock(m_mutex);
    m_finished.emplace(tile.first, std::move(finished));
    report();
}

// Workers compute side by side: an hour of each is one hour of the run.
BatchFigures Tiles::shared(BatchFigures figures) const
{
    for (std::size_t p = 0; p < phaseCount; ++p) {
        figures.times.seconds[p] /= m_workers;
        figures.times.starts[p] = m_ended;
    }
    figures.costs.share(m_workers);
    return figures;
}

// Reports and merges finished tiles in order, up to the first gap.
void Tiles::report()
{
    for (auto it = m_finished.begin(); it != m_finished.end() && it->first == m_reported; it = m_finished.erase(it)) {
        mergeInto(m_session, it->second.contributions);
        const BatchFigures figures = shared(it->second.figures);
        m_books.count(figures);
        m_reported += figures.destinations;
        if (m_untold) m_untold->add(figures);
        else m_untold = figures;
        m_ended = m_session.seconds();
        if (m_ended - m_told >= secondsBetween || m_untold->destinations * mostTold >= m_range.count) tell();
    }
}

void Tiles::tell()
{
    if (!m_untold) return;
    m_books.tell(*m_untold);
    m_untold.reset();
    m_told = m_ended = m_session.seconds();
}

// The workers have ended. Tiles after one that failed may be finished already.
void Tiles::redo()
{
    std::ranges::sort(m_failed, {}, &Destinations::first);
    for (const Destinations& tile : m_failed) {
        report();
        tell();
        m_session.device.emptyCache();
        m_books.again();
        runInTurn(m_session, m_program, m_sizer, m_books, tile);
        m_reported += tile.count;
    }
    if (!m_failed.empty()) m_workers = std::max(m_workers / 2, 1);
    m_failed.clear();
    report();
}

}  // namespace hopscope::executor
