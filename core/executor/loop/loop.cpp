#include "executor/loop/loop.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <random>
#include <set>
#include <utility>

#include "base/proc.h"
#include "base/units.h"
#include "executor/loop/flow.h"
#include "executor/loop/table_stream.h"
#include "executor/loop/tiles.h"

namespace hopscope::executor {

DestinationOrder::DestinationOrder(Session& session, const LoopProgram& program)
    : m_count(session.structure.size(program.loop->destination))
{
    if (!session.options.shuffleSeed) return;
    m_order.resize(static_cast<std::size_t>(m_count));
    std::iota(m_order.begin(), m_order.end(), std::int64_t{0});
    std::mt19937_64 random(*session.options.shuffleSeed);
    for (std::size_t i = m_order.size(); i > 1; --i) std::swap(m_order[i - 1], m_order[random() % i]);
}

// ---- books

LoopBooks::LoopBooks(Session& session, const LoopProgram& program, const LoopNumber& number, StageReport& report,
                     StageProgress& progress)
    : m_session(session),
      m_program(program),
      m_report(report),
      m_progress(progress),
      m_log(session, program, number),
      m_firstOperator(report.operators.size())
{
    if (!session.device.gpu()) std::ranges::move(operatorTimes(program), std::back_inserter(report.operators));
}

namespace {

// Of the batches on a GPU whose memory seems to be full: the segments of its allocator have room that no forecast counts, and
// a batch that does not fit is repeated in halves.
constexpr double leastBytes = 1 << 20;

std::string wordsFor(std::int64_t destinations)
{
    if (destinations == 1) return "a single destination node";
    return "a tile of " + base::formatCount(static_cast<double>(destinations)) + " destination nodes";
}

}  // namespace

void LoopBooks::tooLarge(LoopSizer& sizer, const Destinations& destinations)
{
    ++m_report.backOffs;
    m_session.device.emptyCache();
    if (!sizer.backOff(destinations.count)) {
        if (!m_session.device.gpu()) reuseLargerBlocks(false);
        if (m_retried.insert(destinations.first).second) return;  // now that nothing is wasted
        const auto limit = m_session.options.memory;
        raise(base::ErrorCode::Resources,
              "stage " + std::to_string(m_report.index.number) + " runs out of memory even for " +
                  wordsFor(destinations.count) + " (rows that belong to " +
                  (destinations.count == 1 ? "it: " : "them: ") +
                  base::formatCount(static_cast<double>(sizer.ownedRows(destinations))) + ")" +
                  (limit ? "; the limit is " + base::formatBytes(static_cast<double>(*limit)) : ""),
              moreMemory);
    }
    const std::int64_t half = destinations.count / 2;
    m_session.noteOnce("stage " + std::to_string(m_report.index.number) + ": destinations per batch reduced to " +
                       base::formatCount(static_cast<double>(half)) + " after running out of memory");
}

void BatchFigures::add(const BatchFigures& later)
{
    destinations += later.destinations;
    rows.edges += later.rows.edges;
    rows.frontier += later.rows.frontier;
    times.add(later.times);
    bytes += later.bytes;
    memory.current = later.memory.current;
    memory.reserved = later.memory.reserved;
    memory.peak = std::max(memory.peak, later.memory.peak);
    memory.reservedPeak = std::max(memory.reservedPeak, later.memory.reservedPeak);
    costs.add(later.costs);
}

BatchFigures figuresOf(Batch& batch, const Block& block, const BatchRows& rows, const MemoryStats& memory,
                       std::vector<StoredPart> parts)
{
    plan::Bytes bytes;
    bytes.h2d = batch.feed().readBytes();
    bytes.d2h = batch.results().writtenBytes();
    bytes.structure = batch.feed().structureBytes() + block.structureBytes();
    const Destinations& destinations = block.destinations();
    return {.first = destinations.first,
            .destinations = destinations.count,
            .rows = rows,
            .times = batch.times(),
            .bytes = bytes,
            .memory = memory,
            .costs = batch.costs(),
            .parts = std::move(parts)};
}

void LoopBooks::account(const BatchFigures& finished)
{
    count(finished);
    tell(finished);
}

void LoopBooks::count(const BatchFigures& batch)
{
    m_log.add(batch);
    plan::StageFigures one;
    one.batches = 1;
    one.smallestBatch = one.largestBatch = one.destinations = batch.destinations;
    one.frontierRows = batch.rows.frontier;
    one.bytes = batch.bytes;
    one.peakMemory = batch.memory.peak;
    if (batch.memory.reservedPeak > 0) one.reservedMemory = batch.memory.reservedPeak;
    for (std::size_t p = 0; p < phaseCount; ++p) one.phases[p] = batch.times.seconds[p];
    m_report += one;
    addCosts(batch.costs, m_report.operators, m_firstOperator);
}

void LoopBooks::tell(const BatchFigures& batches)
{
    for (int p = 0; p < phaseCount; ++p) {
        const auto at = static_cast<std::size_t>(p);
        if (batches.times.seconds[at] > 0)
            m_session.observer.phaseFinished({.stage = m_report.index,
                                              .batch = m_number,
                                              .phase = static_cast<Phase>(p),
                                              .start = batches.times.starts[at],
                                              .seconds = batches.times.seconds[at],
                                              .device = batches.device});
    }
    m_progress.done += batches.destinations;
    const MemoryStats& memory = batches.memory;
    m_session.observer.batchFinished({.stage = m_report.index,
                                      .loop = m_session.analysis.tables.spaceName(m_program.loop->destination),
                                      .batch = m_number,
                                      .destinations = batches.destinations,
                                      .edges = batches.rows.edges,
                                      .frontier = batches.rows.frontier,
                                      .done = m_progress.done,
                                      .total = m_progress.total,
                                      .memory = memory.current,
                                      .peakMemory = memory.peak,
                                      .reservedMemory = memory.reservedPeak});
    ++m_number;
    m_log.close(false);
}

void LoopBooks::streamed(std::int64_t windows, std::int64_t bytes, std::int64_t least)
{
    m_report.windows += windows;
    m_report.fileBytes += bytes;
    m_report.leastFileBytes += std::min(bytes, least);
    m_session.noteOnce("stage " + std::to_string(m_report.index.number) + ": tables do not fit into memory; " +
                       base::formatBytes(static_cast<double>(bytes)) + " of them were read past the page cache, in " +
                       base::formatCount(static_cast<double>(windows)) + (windows == 1 ? " window" : " windows"));
}

void LoopBooks::takeOver(const std::vector<Chunk>& chunks)
{
    if (chunks.empty()) return;
    BatchFigures all;
    for (const Chunk& c : chunks) {
        plan::StageFigures figures;
        figures.batches = c.batches;
        figures.smallestBatch = c.smallest;
        figures.largestBatch = c.largest;
        figures.destinations = c.count;
        figures.frontierRows = c.frontier;
        figures.bytes = c.bytes;
        m_report += figures;
        all.destinations += c.count;
        all.rows.edges += c.edges;
        all.rows.frontier += c.frontier;
    }
    tell(all);
}

// ---- one after the other

namespace {

class InTurn {
public:
    InTurn(Session& session, const LoopProgram& program, LoopSizer& sizer)
        : m_session(session),
          m_sizer(sizer),
          m_block(session.structure, session.analysis, *program.loop),
          m_batch(session, program, m_block)
    {}

    // False if the batch ran out of memory: nothing of it remains.
    bool attempt(const Destinations& destinations)
    {
        DeviceContext& device = m_session.device;
        device.resetPeak();
        const std::int64_t before = device.memory().current;
        const double predicted = m_sizer.predicted(destinations);
        const bool fits = fitsIntoMemory([&] {
            m_block.begin(destinations);
            m_batch.compute();
            mergeInto(m_session, m_batch.takeContributions());
        });
        if (!fits) {
            end();
            return false;
        }
        m_parts = m_batch.store();
        m_rows = m_sizer.learn(m_block);
        m_sizer.observe(predicted, static_cast<double>(device.memory().peak - before));
        return true;
    }

    BatchFigures figures()
    {
        return figuresOf(m_batch, m_block, m_rows, m_session.device.memory(), std::move(m_parts));
    }

    void end()
    {
        m_batch.clear();
        m_block.end();
    }

private:
    Session& m_session;
    LoopSizer& m_sizer;
    Block m_block;
    Batch m_batch;
    BatchRows m_rows;
    std::vector<StoredPart> m_parts;
};

}  // namespace

void runInTurn(Session& session, const LoopProgram& program, LoopSizer& sizer, LoopBooks& books,
               const Destinations& range)
{
    InTurn loop(session, program, sizer);
    std::int64_t first = range.first;
    const std::int64_t end = range.first + range.count;
    while (first < end) {
        session.checkStop();
        const Destinations batch{first, sizer.next(first, end - first, range.order), range.order};
        if (!loop.attempt(batch)) {
            books.tooLarge(sizer, batch);
            continue;
        }
        first += batch.count;
        books.account(loop.figures());
        loop.end();
    }
}

namespace {

void runInTiles(Session& session, const LoopProgram& program, LoopSizer& sizer, LoopBooks& books,
                const Destinations& range, const LoopProgram* next)
{
    Tiles tiles(session, program, sizer, books, *program.tiling);
    const std::unique_ptr<TableStream> stream = TableStream::of(session, program, next);
    if (!stream) return tiles.run(range);
    for (Destinations left = range; left.count > 0;) {
        const std::unique_ptr<Window> window = stream->next(left);
        tiles.run(*window);
        stream->finished(*window);
        left.count -= window->range().count;
        left.first += window->range().count;
    }
    books.streamed(stream->windows(), stream->read(), stream->fileBytes());
}

void runOnCpu(Session& session, const LoopProgram& program, LoopSizer& sizer, LoopBooks& books, const LoopShare& share)
{
    const DestinationOrder all(session, program);
    for (Destinations range : share.left.value_or(std::vector{Destinations{0, all.count()}})) {
        range.order = all.order();
        if (program.tiling) runInTiles(session, program, sizer, books, range, share.next);
        else runInTurn(session, program, sizer, books, range);
    }
    books.close();
}

}  // namespace

namespace {

// Batches of a GPU gather single rows of such tables.
void noteFiles(Session& session, const LoopProgram& program)
{
    double bytes = 0;
    std::set<ir::ValueId> counted;
    for (const Instruction& i : program.instructions)
        if (i.act == Act::Read && i.rows.kind == ir::RowKind::Frontier && !session.choice.holds(i.value) &&
            counted.insert(i.value).second)
            bytes += static_cast<double>(session.table(i.value).rows.nbytes());
    const auto memory = static_cast<double>(session.options.tableMemory.value_or(base::availableMemory()));
    if (bytes <= memory) return;
    session.noteOnce("stage " + std::to_string(session.stage.number) + ": tables of " + base::formatBytes(bytes) +
                     ", from which batches gather rows, do not fit into the memory of the host (" +
                     base::formatBytes(memory) +
                     " free): rows are read from files one by one, which is slow; a run on a CPU reads such tables in "
                     "windows");
}

}  // namespace

void runLoop(Session& session, const LoopProgram& program, LoopBooks& books, const LoopShare& share, double budget)
{
    books.takeOver(share.kept);
    if (!session.device.gpu()) {
        LoopSizer sizer(session, program, budget);
        if (share.size) sizer.expect(*share.size);
        return runOnCpu(session, program, sizer, books, share);
    }
    const std::int64_t count = session.structure.size(program.loop->destination);
    const Ranges ranges = share.left.value_or(Ranges{{0, count}});
    BatchOrder order(session, books, ranges);
    runOnGpu(session, program, order, ranges, budget);
    books.close();
}

// Values are evaluated beforehand, so that all batches take the same memory.
void runOnGpu(Session& session, const LoopProgram& program, BatchOrder& order, Ranges ranges, double budget)
{
    for (const ir::ValueId v : wholeOperands(program)) session.whole(v);
    noteFiles(session, program);
    const auto stays = static_cast<double>(session.device.memory().current);
    LoopSizer sizer(session, program, std::max(leftToBatches(budget, stays, session.options.memory), leastBytes));
    Flow(session, program, sizer, order, std::move(ranges)).run();
}

}  // namespace hopscope::executor
