#include "executor/loop/flow.h"

#include <algorithm>

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include "executor/loop/staging_plan.h"

namespace hopscope::executor {

namespace {

constexpr std::size_t mostUnderWay = 3;  // on the device, at first

using Mark = std::optional<c10::Event>;

struct Span {
    Mark begin, end;
};

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
          memory(place)
    {}

    Block block;
    Batch batch;
    StagingRing::Place& memory;
    std::int64_t position = 0;  // of the first destination
    Destinations destinations;
    bool prepared = false;  // false: the host ran out of memory
    double predicted = 0;
    BatchRows rows;
    MemoryStats held;
    std::vector<StoredPart> parts;
    Span upload, compute, download;
};

Flow::Flow(Session& session, const LoopProgram& program, LoopSizer& sizer, BatchOrder& order, Ranges ranges)
    : m_session(session),
      m_sizer(sizer),
      m_order(order),
      m_all(session, program),
      m_ranges(std::move(ranges)),
      m_count(sizeOf(m_ranges)),
      m_mostUnderWay(mostUnderWay),
      m_tiled(program.gpuTile.has_value()),
      m_fixed(m_tiled || session.options.batch),
      m_anchor(session.device.mark(Lane::Compute))
{
    std::int64_t position = 0;
    for (const Destinations& range : m_ranges) m_starts.push_back(std::exchange(position, position + range.count));
    for (StagingRing::Place& place : session.ring->places()) {
        m_slots.push_back(std::make_unique<Slot>(session, program, place));
        m_free.push_back(m_slots.back().get());
    }
    const Destinations all{0, m_all.count(), m_all.order()};
    const StagingRing::Place& place = session.ring->places().front();
    const SlotBytes bytes = unsharedBytes(session.analysis, session.structure, session.choice, program);
    m_fullnessPerRow = std::max(share(bytes.up, place.up), share(bytes.down, place.down)) /
                       static_cast<double>(std::max<std::int64_t>(sizer.rows(all), 1));
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
    m_threads.clear();
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
        if (epoch != m_epoch) {
            release(slot);
            continue;
        }
        m_next = position + slot.destinations.count;
        m_prepared.push_back(&slot);
        m_mayDrive.notify_one();
    }
}

// The destinations from a position on, up to the end of their range.
Destinations Flow::restFrom(std::int64_t position) const
{
    const auto at = static_cast<std::size_t>(std::ranges::upper_bound(m_starts, position) - m_starts.begin()) - 1;
    const std::int64_t before = position - m_starts[at];
    return {m_ranges[at].first + before, m_ranges[at].count - before, m_all.order()};
}

// Takes a smaller batch than wanted if its rows exceed the pinned memory. Numbering the rows of a batch that does not
// fit is lost work, so the size is chosen by the rows per byte of the batch before.
void Flow::prepare(Slot& slot, std::int64_t position)
{
    slot.position = position;
    Destinations batch = restFrom(position);
    batch.count = m_sizer.next(batch.first, batch.count, batch.order);
    const auto shrunk = [&] { return m_sizer.within(batch, fullSlot / m_fullnessPerRow); };
    if (m_fullnessPerRow > 0 && !m_fixed) batch.count = shrunk();
    slot.prepared = fitsIntoMemory([&] {
        while (!stage(slot, batch)) batch.count = std::min(batch.count - 1, shrunk());
    });
}

// False if a smaller batch is to be tried. Tiles keep their size, and batches one that the user has chosen: data that
// does not fit is copied from pageable memory.
bool Flow::stage(Slot& slot, const Destinations& destinations)
{
    m_session.checkStop();
    slot.destinations = destinations;
    slot.block.begin(destinations);
    const double full = std::max(share(slot.batch.feed().stagingBytes(), slot.memory.up),
                                 share(slot.batch.resultBytes(), slot.memory.down));
    m_fullnessPerRow = full / static_cast<double>(m_sizer.rows(destinations));
    if (full > 1 && destinations.count > 1 && !m_fixed) {
        endBlock(slot);
        return false;
    }
    slot.memory.up.clear();
    slot.memory.down.clear();
    slot.batch.stage(slot.memory.up);
    slot.block.dropNumbers();
    return true;
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
        slot.parts = slot.batch.store();
        lock.lock();
        m_written.push_back(&slot);
        m_mayDrive.notify_one();
    }
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

// Waits if no batch is under way; nullptr if none is prepared, but one has been written meanwhile.
Flow::Slot* Flow::nextPrepared()
{
    std::unique_lock lock(m_mutex);
    // No destination is in any slot, or will be: without this check, an accounting error would wait forever.
    const auto idle = [&] { return m_free.size() == m_slots.size() && m_next >= m_count; };
    const auto ready = [&] { return m_failure || !m_prepared.empty() || !m_written.empty() || idle(); };
    if (m_underWay.empty()) m_mayDrive.wait(lock, m_session.stop, ready);
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
    slot.upload.begin = device.mark(Lane::Upload);
    slot.batch.upload();
    slot.upload.end = device.mark(Lane::Upload);
    device.order(Lane::Upload, Lane::Compute);
    slot.compute.begin = device.mark(Lane::Compute);
    slot.batch.compute();
    slot.compute.end = device.mark(Lane::Compute);
    device.order(Lane::Compute, Lane::Download);
    slot.download.begin = device.mark(Lane::Download);
    slot.batch.collect(&slot.memory.down);
    slot.download.end = device.mark(Lane::Download);
    device.checkLimit();
    if (!m_session.steady()) mergeInto(m_session, slot.batch.takeContributions());
    slot.batch.letGo();
}

// Waits for the oldest batch; its rows can be written from then on.
void Flow::retire()
{
    Slot& slot = *m_underWay.front();
    m_underWay.pop_front();
    slot.download.end->synchronize();
    times(slot);
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
    m_session.overlap.copied(span(slot.upload, Phase::HostToDevice));
    m_session.overlap.computed(span(slot.compute, Phase::Compute));
    m_session.overlap.copied(span(slot.download, Phase::DeviceToHost));
    m_anchorSeconds = secondsAt(*slot.upload.begin);
    m_anchor = std::move(*slot.upload.begin);
}

void Flow::accountWritten()
{
    std::unique_lock lock(m_mutex);
    while (!m_written.empty()) {
        Slot& slot = *m_written.front();
        m_written.pop_front();
        lock.unlock();
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
    m_session.device.synchronize();
    slot.batch.clear();
    m_order.tooLarge(m_sizer, failed);
    if (m_tiled) m_mostUnderWay = 1;
    const std::lock_guard lock(m_mutex);
    ++m_epoch;
    m_next = position;
    m_prepared.push_back(&slot);
    for (Slot* const dropped : std::exchange(m_prepared, {})) release(*dropped);
}

}  // namespace hopscope::executor
