#include "executor/loop/flow.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include "executor/loop/staging_plan.h"

namespace hopscope::executor {

namespace {

constexpr std::size_t mostUnderWay = 3;          // on the device, at first
constexpr std::size_t leastUnderWay = 2;         // so that one is computed while the next one is copied
constexpr std::chrono::microseconds pause{200};  // between looks at results that are being copied
constexpr double mostFull = 1.15;  // of the memory that a batch may take: rows are numbered again for a smaller one

// The calling and the writing thread are also busy: a parallel loop waits for each of its threads to get a core.
int preparingThreads(int all) { return all >= 6 ? all - 2 : all; }

// A few of them copy as fast as the link.
int writingThreads(int all) { return std::max(all / 4, 1); }

double share(std::int64_t bytes, const StagingChunk& chunk)
{
    return static_cast<double>(bytes) / static_cast<double>(std::max<std::int64_t>(chunk.capacity(), 1));
}

// In memory of their own: those of a batch are in its slot.
Contributions kept(Contributions contributions)
{
    for (auto& [op, contribution] : contributions)
        for (at::Tensor* const t : {&contribution.value, &contribution.spread})
            if (t->defined()) *t = t->clone();
    return contributions;
}

}  // namespace

struct Flow::Slot {
    Slot(Session& session, const LoopProgram& program, StagingRing::Place& place)
        : block(session.structure, session.analysis, *program.loop),
          batch(session, program, block),
          memory(place),
          up(place.up),
          down(place.down)
    {}

    Block block;
    Batch batch;
    StagingRing::Place& memory;
    UploadPieces up;
    DownloadPieces down;
    bool exceeds = false;  // the data of the batch its memory
    bool upInPieces = false, downInPieces = false, draining = false;
    std::optional<c10::Event> computed;  // after which results are in place, if these are copied in pieces
    std::int64_t position = 0;           // of the first destination
    Destinations destinations;
    bool prepared = false;  // false: the host ran out of memory
    double predicted = 0;
    BatchRows rows;
    MemoryStats held;
    std::vector<StoredPart> parts;
    std::vector<Span> upload, download;
    Span compute;
};

Flow::Flow(Session& session, const LoopProgram& program, LoopSizer& sizer, BatchOrder& order, Ranges ranges)
    : m_session(session),
      m_sizer(sizer),
      m_order(order),
      m_all(session, program),
      m_ranges(std::move(ranges)),
      m_starts(startsOf(m_ranges)),
      m_count(sizeOf(m_ranges)),
      m_mostUnderWay(mostUnderWay),
      m_tiled(program.gpuTile.has_value()),
      m_fixed(m_tiled || session.options.batch),
      m_anchor(session.device.mark(Lane::Compute))
{
    for (StagingRing::Place& place : session.ring->places()) {
        m_slots.push_back(std::make_unique<Slot>(session, program, place));
        m_free.push_back(m_slots.back().get());
    }
    const auto rows = std::max<std::int64_t>(sizer.rows({0, m_all.count(), m_all.order()}), 1);
    const StagingRing::Place& place = session.ring->places().front();
    const SlotBytes bytes = unsharedBytes(session.analysis, session.structure, session.choice, program);
    m_fullnessPerRow = std::max(share(bytes.up, place.up), share(bytes.down, place.down)) / static_cast<double>(rows);
    m_limits = batchRowLimits(session.choice, program, rows);
}

Flow::~Flow() { stopThreads(); }

void Flow::run()
{
    m_session.device.synchronize();
    m_anchor = m_session.device.mark(Lane::Compute);
    m_anchorSeconds = m_session.seconds();
    const int threads = preparingThreads(at::get_num_threads());
    m_threads.emplace_back([this, threads] {
        at::set_num_threads(threads);
        guarded([this] { prepareAll(); });
    });
    m_threads.emplace_back([this, all = at::get_num_threads()] {
        at::set_num_threads(writingThreads(all));
        guarded([this] { writeAll(); });
    });
    try {
        drive();
    } catch (...) {
        stopThreads();
        m_session.device.synchronize();  // before memory of pending copies is released
        if (m_failure) std::rethrow_exception(m_failure);
        throw;
    }
    stopThreads();
    m_order.numbered(m_numbers);
}

void Flow::stopThreads()
{
    {
        const std::lock_guard lock(m_mutex);
        m_ending = true;
    }
    m_mayPrepare.notify_one();
    m_mayWrite.notify_one();
    leaveAll();
    m_threads.clear();
}

void Flow::leaveAll()
{
    for (const auto& slot : m_slots) {
        slot->up.leave();
        slot->down.leave();
    }
}

// Exceptions of the flow's own threads are rethrown by the calling thread.
template <class Work>
void Flow::guarded(Work&& work)
{
    const c10::InferenceMode inference;
    try {
        work();
    } catch (...) {
        const std::lock_guard lock(m_mutex);
        if (!m_failure) m_failure = std::current_exception();
        m_mayDrive.notify_one();
        leaveAll();
    }
}

// ---- preparing

void Flow::prepareAll()
{
    std::unique_lock lock(m_mutex);
    for (;;) {
        m_mayPrepare.wait(lock, [&] { return m_ending || (!m_free.empty() && m_next < m_count); });
        if (m_ending) return;
        Slot& slot = *m_free.front();
        m_free.pop_front();
        const std::int64_t position = m_next;
        const std::uint64_t epoch = m_epoch;
        lock.unlock();
        prepare(slot, position);
        lock.lock();
        const bool wanted = epoch == m_epoch;
        if (wanted) {
            m_next = position + slot.destinations.count;
            m_prepared.push_back(&slot);
            m_mayDrive.notify_one();
        }
        if (slot.upInPieces) {
            if (!wanted) slot.up.leave();
            lock.unlock();
            give(slot);
            lock.lock();
        }
        if (!wanted) release(slot);
    }
}

// Takes a smaller batch than wanted if its rows exceed the pinned memory, unless batches share them, or the memory of the
// device. Numbering the rows of a batch that does not fit is lost work, so the size is chosen by the rows per byte of the
// batch before.
void Flow::prepare(Slot& slot, std::int64_t position)
{
    slot.position = position;
    slot.upInPieces = slot.downInPieces = slot.draining = false;
    Destinations batch = restFrom(position, m_ranges, m_starts, m_all.order());
    batch.count = m_sizer.next(batch.first, batch.count, batch.order);
    const auto shrunk = [&] { return m_sizer.within(batch, m_limits.of(fullSlot / m_fullnessPerRow)); };
    if (!m_fixed) batch.count = shrunk();
    slot.prepared = fitsIntoMemory([&] {
        while (!stage(slot, batch))
            batch.count = std::min(shrunk(), m_sizer.next(batch.first, batch.count - 1, batch.order));
    });
}

// False if a smaller batch is to be tried. Tiles keep their size, and batches one that the user has chosen.
bool Flow::stage(Slot& slot, const Destinations& destinations)
{
    m_session.checkStop();
    slot.destinations = destinations;
    slot.block.begin(destinations);
    if (tooFull(slot) && destinations.count > 1 && !m_fixed) {
        endBlock(slot);
        return false;
    }
    for (StagingChunk* const chunk : {&slot.memory.up, &slot.memory.down}) chunk->clear();
    if (slot.exceeds) slot.up.begin(slot.batch.list());
    else slot.batch.stage(slot.memory.up);
    slot.upInPieces = slot.exceeds;
    slot.block.dropNumbers();
    return true;
}

// With a journal, which identifies the rows of a tile by one digest, results stay together.
bool Flow::tooFull(Slot& slot)
{
    const double up = share(slot.batch.feed().stagingBytes(), slot.memory.up),
                 down = share(slot.batch.results().bytes(), slot.memory.down);
    const auto rows = static_cast<double>(m_sizer.rows(slot.destinations));
    m_fullnessPerRow = std::max(up, down) / rows;
    slot.exceeds = up > 1;
    slot.downInPieces = down > 1 && !m_session.steady();
    if (m_fixed) return false;
    return (std::max(up, down) > 1 && rows > m_limits.together) || m_sizer.fullness(slot.block) > mostFull;
}

void Flow::give(Slot& slot)
{
    slot.up.fill([&](const HostRows& rows, std::int64_t first, std::int64_t end, std::byte* to) {
        slot.batch.feed().write(rows, first, end, to);
    });
}

// ---- writing

void Flow::writeAll()
{
    std::unique_lock lock(m_mutex);
    for (;;) {
        m_mayWrite.wait(lock, [&] { return m_ending || !m_toWrite.empty(); });
        if (m_ending) return;
        Slot& slot = *m_toWrite.front();
        m_toWrite.pop_front();
        lock.unlock();
        if (!write(slot)) return;
        lock.lock();
        m_written.push_back(&slot);
        m_mayDrive.notify_one();
    }
}

// False if the run has ended meanwhile.
bool Flow::write(Slot& slot)
{
    slot.parts = slot.batch.store();
    if (!slot.downInPieces) return true;
    return slot.down.drain([&](std::size_t result, std::int64_t first, const at::Tensor& rows) {
        slot.batch.results().storePart(result, first, rows);
    });
}

// ---- driving

void Flow::drive()
{
    for (;;) {
        m_session.checkStop();
        accountWritten();
        if (m_accounted == m_count) return;
        if (m_underWay.size() >= m_mostUnderWay) {
            retire();
            continue;
        }
        if (Slot* const slot = nextPrepared()) {
            if (!launch(*slot)) redo(*slot);
        } else if (!m_underWay.empty()) {
            retire();
        }
    }
}

// Waits if fewer batches are under way than keep the device busy; nullptr if none is prepared, but one has been written
// meanwhile, or none is left to prepare.
Flow::Slot* Flow::nextPrepared()
{
    std::unique_lock lock(m_mutex);
    // No destination is in any slot, or will be: without this check, an accounting error would wait forever.
    const auto idle = [&] { return m_free.size() == m_slots.size() && m_next >= m_count; };
    const auto last = [&] { return m_next >= m_count && !m_underWay.empty(); };
    const auto ready = [&] { return m_failure || !m_prepared.empty() || !m_written.empty() || idle() || last(); };
    while (m_underWay.size() < leastUnderWay && !ready()) {
        m_session.checkStop();
        lock.unlock();
        drainMeanwhile();
        lock.lock();
        const bool draining = !m_underWay.empty() && m_underWay.front()->downInPieces;
        if (draining) m_mayDrive.wait_for(lock, m_session.stop, pause, ready);
        else m_mayDrive.wait(lock, m_session.stop, ready);
    }
    if (m_failure) std::rethrow_exception(m_failure);
    require(!idle(), "destinations of a loop were lost");
    if (m_prepared.empty()) return nullptr;
    Slot* const slot = m_prepared.front();
    m_prepared.pop_front();
    return slot;
}

// False if it ran out of memory: its copies may still be under way.
bool Flow::launch(Slot& slot)
{
    if (!slot.prepared) return false;
    DeviceContext& device = m_session.device;
    device.resetPeak();
    const std::int64_t before = device.memory().current;
    slot.predicted = m_sizer.predicted(slot.destinations);
    if (!fitsIntoMemory([&] { queue(slot); })) return false;
    slot.held = device.memory();
    slot.rows = m_sizer.learn(slot.block);
    m_sizer.observe(slot.predicted, static_cast<double>(slot.held.peak - before));
    m_underWay.push_back(&slot);
    return true;
}

// Merging comes last: from then on the batch counts. Contributions are merged on the host once the batch is written, if
// totals that are recorded end with it, or if several GPUs compute them.
void Flow::queue(Slot& slot)
{
    DeviceContext& device = m_session.device;
    queueUpload(slot);
    device.order(Lane::Upload, Lane::Compute);
    slot.compute.begin = device.mark(Lane::Compute);
    slot.batch.compute();
    slot.compute.end = device.mark(Lane::Compute);
    queueDownload(slot);
    slot.batch.keep();
    device.checkLimit();
    if (!m_session.steady()) mergeInto(m_session, slot.batch.takeContributions());
    slot.batch.letGo();
}

void Flow::queueUpload(Slot& slot)
{
    slot.upload.clear();
    if (slot.upInPieces) {
        const auto meanwhile = [this] { drainMeanwhile(); };
        slot.batch.arrived(slot.up.copy(m_session.device, m_session.stop, slot.upload, meanwhile));
        return slot.batch.upload();
    }
    Span& span = slot.upload.emplace_back();
    span.begin = m_session.device.mark(Lane::Upload);
    slot.batch.upload();
    span.end = m_session.device.mark(Lane::Upload);
}

// Copies of pieces wait for this batch alone: once they are queued, the next one may be computed as well.
void Flow::queueDownload(Slot& slot)
{
    DeviceContext& device = m_session.device;
    slot.download.clear();
    if (slot.downInPieces) {
        slot.down.begin(slot.batch.results().leave());
        slot.computed = device.mark(Lane::Compute);
        return;
    }
    device.order(Lane::Compute, Lane::Download);
    Span& span = slot.download.emplace_back();
    span.begin = device.mark(Lane::Download);
    slot.batch.collect(slot.memory.down);
    span.end = device.mark(Lane::Download);
}

void Flow::startDraining(Slot& slot)
{
    if (std::exchange(slot.draining, true)) return;
    m_session.device.order(*slot.computed, Lane::Download);
    const std::lock_guard lock(m_mutex);
    m_toWrite.push_back(&slot);
    m_mayWrite.notify_one();
}

// Copies results of the oldest batch as far as that takes no waiting.
void Flow::drainMeanwhile()
{
    if (m_underWay.empty() || !m_underWay.front()->downInPieces) return;
    Slot& slot = *m_underWay.front();
    startDraining(slot);
    while (!slot.down.complete() && slot.down.step(m_session.device, m_session.stop, slot.download, false)) {}
    if (slot.down.complete()) m_underWay.pop_front();
}

// Waits for the oldest batch, whose rows can be written from then on, or for a piece of its results.
void Flow::retire()
{
    Slot& slot = *m_underWay.front();
    if (slot.downInPieces) {
        startDraining(slot);
        if (!slot.down.complete()) slot.down.step(m_session.device, m_session.stop, slot.download, true);
        if (slot.down.complete()) m_underWay.pop_front();
        return;
    }
    m_underWay.pop_front();
    slot.download.back().end->synchronize();
    const std::lock_guard lock(m_mutex);
    m_toWrite.push_back(&slot);
    m_mayWrite.notify_one();
}

double Flow::secondsAt(const c10::Event& event) const { return m_anchorSeconds + m_anchor.elapsedTime(event) / 1e3; }

// CUDA gives the time between two events as a float of milliseconds, which after hours is too coarse for a batch: times
// are taken from the oldest batch's first event, before those of all later batches.
void Flow::times(Slot& slot)
{
    PhaseTimes& times = slot.batch.deviceTimes();
    const auto span = [&](const Span& s, Phase phase) {
        const Overlap::Span seconds{secondsAt(*s.begin), secondsAt(*s.end)};
        times.add(phase, seconds.begin, seconds.end - seconds.begin);
        return seconds;
    };
    for (const Span& s : slot.upload) m_session.overlap.copied(span(s, Phase::HostToDevice));
    m_session.overlap.computed(span(slot.compute, Phase::Compute));
    for (const Span& s : slot.download) m_session.overlap.copied(span(s, Phase::DeviceToHost));
    m_anchorSeconds = secondsAt(*slot.upload.front().begin);
    m_anchor = std::move(*slot.upload.front().begin);
}

void Flow::accountWritten()
{
    std::unique_lock lock(m_mutex);
    while (!m_written.empty()) {
        Slot& slot = *m_written.front();
        m_written.pop_front();
        lock.unlock();
        times(slot);
        m_accounted += slot.destinations.count;
        BatchFigures figures = figuresOf(slot.batch, slot.block, slot.rows, slot.held, std::move(slot.parts));
        figures.device = static_cast<int>(m_session.number);
        m_order.finished(std::move(figures), kept(slot.batch.takeContributions()));
        slot.batch.clear();
        lock.lock();
        release(slot);
    }
}

// The lock is held.
void Flow::release(Slot& slot)
{
    slot.batch.clear();
    endBlock(slot);
    m_free.push_back(&slot);
    m_mayPrepare.notify_one();
}

void Flow::endBlock(Slot& slot)
{
    m_numbers += slot.block.structureBytes() / static_cast<std::int64_t>(sizeof(std::int64_t));
    slot.block.end();
}

// Batches before this one are kept; those prepared after it are prepared again, after a smaller one that has the whole
// device to itself. A tile keeps its size; from then on fewer are under way.
void Flow::redo(Slot& slot)
{
    const Destinations failed = slot.destinations;
    const std::int64_t position = slot.position;
    while (!m_underWay.empty()) retire();
    leave(slot);
    m_session.device.synchronize();
    slot.batch.clear();
    m_order.tooLarge(m_sizer, failed);
    if (m_tiled) m_mostUnderWay = 1;
    const std::lock_guard lock(m_mutex);
    ++m_epoch;
    m_next = position;
    m_prepared.push_back(&slot);
    for (Slot* const dropped : std::exchange(m_prepared, {})) {
        leave(*dropped);
        release(*dropped);
    }
}

// Until the preparing thread no longer uses the slot.
void Flow::leave(Slot& slot)
{
    if (!slot.upInPieces) return;
    slot.up.leave();
    slot.up.awaitLeft();
}

}  // namespace hopscope::executor
