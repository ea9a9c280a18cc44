#include "executor/executor.h"

#include <algorithm>
#include <ctime>

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include "analysis/naming/value_names.h"
#include "analysis/stored.h"
#include "base/proc.h"
#include "base/units.h"
#include "executor/exception_boundary.h"
#include "executor/loop/gpu_tiles.h"
#include "executor/loop/prologue.h"
#include "executor/loop/staging_plan.h"
#include "executor/recovery/recovery.h"
#include "executor/recovery/resuming.h"
#include "executor/recovery/shards.h"
#include "executor/run/arrange.h"
#include "executor/run/on_gpus.h"
#include "executor/run/results.h"
#include "executor/run/tiling.h"
#include "executor/run/transient_inputs.h"
#include "executor/stores/group_commit.h"
#include "executor/structure/in_place_bytes.h"
#include "graph/file.h"

namespace hopscope::executor {

namespace {

// Restores the process-wide limit however the run ends.
class LimitScope {
public:
    explicit LimitScope(DeviceContext& device) : m_device(device) {}
    ~LimitScope() { m_device.setLimit(0); }
    LimitScope(const LimitScope&) = delete;
    LimitScope& operator=(const LimitScope&) = delete;

private:
    DeviceContext& m_device;
};

// The CPU time of this process so far.
double coreSeconds()
{
    timespec now{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

plan::Bytes movedSince(const plan::Bytes& before, const plan::Bytes& now)
{
    return {now.d2h - before.d2h, now.h2d - before.h2d, now.structure - before.structure};
}

class Runner {
public:
    explicit Runner(Session& session) : m_session(session) {}

    RunReport run()
    {
        const LimitScope restore(m_session.device);
        const bool gpu = m_session.device.gpu();
        if (m_session.gpus > 1) m_gpus.emplace(m_session);
        setLimits();
        if (gpu) each([](Session& session, std::size_t) { pinTables(session); });
        m_programs = compileStages(m_session.analysis, m_session.plan, m_session.choice, m_session.structure,
                                   familiesOf(m_session), tilingOf(m_session, m_budget), m_session.options.store);
        if (m_gpus) writeWhatIsNotSent(*m_gpus, m_programs);
        if (gpu && m_session.steady()) tileOnGpu(m_session, m_programs, m_budget);
        prologue();
        beginJournal();
        if (!gpu) m_transient.emplace(m_session, m_programs).release(0);
        prepareResults(m_session, m_programs);
        if (gpu) each([&](Session& session, std::size_t) { session.ring = makeRing(session, m_programs); });
        for (const plan::Stage& stage : m_session.plan.stages) runStage(stage);
        m_session.ready.end();
        if (m_commit) m_commit->finish();
        if (publishes()) Results(m_session).publish();
        each([](Session& session, std::size_t) { noteUnsteady(session); });
        noteCache();
        m_session.report.seconds = m_session.seconds();
        m_session.report.cores = at::get_num_threads();
        if (m_shards)
            m_session.report.shard = {m_session.others()->share(), m_shards->waited(), m_shards->computed(),
                                      publishes()};
        return std::move(m_session.report);
    }

private:
    // Calls `work` for each GPU of the run, at the same time; on a CPU, once.
    void each(const Gpus::Work& work) { m_gpus ? m_gpus->each(work) : work(m_session, 0); }

    // On the CPU the limit applies to the whole process: memory that it already holds outside of tensors is subtracted.
    // Tiles must fit into the memory of each GPU.
    void setLimits()
    {
        const auto wanted = m_session.options.memory;
        std::vector<std::int64_t> tiles(m_session.gpus);
        each([&](Session& session, std::size_t number) {
            DeviceContext& device = session.device;
            if (wanted) device.setLimit(device.gpu() ? *wanted : tensorLimit(*wanted));
            tiles[number] = steadyBatchBytes(wanted, device);
        });
        m_budget = m_session.device.budget(wanted);
        const Journal* const journal = m_session.options.journal;
        const auto known = journal ? journal->batchBytes() : std::optional<std::int64_t>();
        if (m_session.steady()) m_budget = static_cast<double>(known.value_or(std::ranges::min(tiles)));
        m_budget = std::max(m_budget, 1.0);
    }

    static void pinTables(Session& session)
    {
        for (const plan::CachedTable& c : session.plan.cached) session.residents.pin(c.value);
    }

    static void noteUnsteady(Session& session)
    {
        for (const std::string& name : session.device.unsteadyOperators())
            session.noteOnce(name +
                             " has no deterministic kernel on a GPU: results may differ between runs in the last bits");
    }

    void prologue()
    {
        m_session.observer.prologueStarted();
        const double began = m_session.seconds();
        arrangeNodes(m_session, m_programs);
        reuseLargerBlocks(!m_session.options.memory);  // a prologue that runs out of memory is not repeated
        makePrologue(m_session.structure, m_session.analysis, m_programs, m_session.options.folder);
        reuseLargerBlocks(true);
        m_session.report.prologueSeconds = m_session.seconds() - began;
        m_session.observer.prologueFinished(m_session.report.prologueSeconds);
    }

    // Takes over the work that an earlier process has finished.
    void beginJournal()
    {
        Journal* const journal = m_session.options.journal;
        if (!journal) return;
        const std::vector<Chunk> found =
            unwrap(journal->begin(static_cast<std::int64_t>(m_budget), cutsOf(m_programs)));
        m_commit.emplace(*journal);
        if (Others* const others = journal->others()) m_shards.emplace(m_session, m_programs, *others, found, m_budget);
        if (found.empty()) return;
        m_recovery.emplace(m_session, m_programs, found);
        for (const auto& [value, store] : m_session.stores) m_commit->watch(store);
        const bool others = m_shards && !journal->others()->repeated();  // the chunks found are theirs
        if (others && m_recovery->report().damaged == 0) return;
        m_session.report.resumed = m_recovery->report();
        m_session.noteOnce(sentenceOf(m_recovery->report()));
    }

    [[nodiscard]] bool publishes() const { return m_publishes; }

    void noteCache()
    {
        const StructureCache* const cache = m_session.structure.cache();
        if (cache && cache->problem())
            m_session.noteOnce("the cache lacks a part of this graph: " + cache->problem()->message);
    }

    using Books = std::vector<std::unique_ptr<LoopBooks>>;  // by loop

    void runStage(const plan::Stage& stage)
    {
        Session& session = m_session;
        const auto at = static_cast<std::size_t>(&stage - session.plan.stages.data());
        StageProgress progress;
        for (const plan::Loop& loop : stage.loops) progress.total += session.structure.size(loop.destination);
        session.stage = stage.index;
        StageReport report;
        report.index = stage.index;
        const double began = session.seconds(), worked = coreSeconds();
        session.observer.stageStarted({.index = stage.index,
                                       .count = static_cast<int>(session.plan.stages.size()),
                                       .destinations = progress.total});
        if (m_shards) {
            loopsTogether(at, report, progress);
        } else {
            for (std::size_t l = 0; l < m_programs[at].size(); ++l)
                loop(m_programs[at][l], numberOf(at, l), report, progress);
        }
        report.seconds = session.seconds() - began;
        report.coreSeconds = coreSeconds() - worked;
        report.overlap = takeOverlap(m_session, m_gpus ? &*m_gpus : nullptr);
        session.observer.stageFinished(stage.index, report.seconds);
        session.report.peakMemory = std::max(session.report.peakMemory, report.peakMemory);
        session.report.stages.push_back(report);
        each([&](Session& gpu, std::size_t) { gpu.residents.drop(at, m_programs); });
        // A process that was killed and is resumed may still read values that this one no longer needs.
        if (session.options.dropStores && !m_shards) dropStores(at);
        if (session.options.dropStores && m_shards && at > 0) dropStores(at - 1);
        if (m_transient) m_transient->release(at + 1);
    }

    static LoopNumber numberOf(std::size_t stage, std::size_t loop)
    {
        return {plan::StageId::at(stage), static_cast<int>(loop) + 1};
    }

    // The predicted size of its batches, if there is one. Batches of a run with a journal depend on the journal alone.
    [[nodiscard]] std::optional<std::int64_t> predictedSize(const LoopNumber& number) const
    {
        const auto& sizes = m_session.options.sizes;
        const auto stage = static_cast<std::size_t>(number.stage.number) - 1,
                   loop = static_cast<std::size_t>(number.loop) - 1;
        if (m_session.options.journal || stage >= sizes.size() || loop >= sizes[stage].size()) return std::nullopt;
        return sizes[stage][loop];
    }

    // The loop that follows; nullptr: none.
    [[nodiscard]] const LoopProgram* after(const LoopNumber& number) const
    {
        const auto stage = static_cast<std::size_t>(number.stage.number) - 1;
        const auto next = static_cast<std::size_t>(number.loop);
        if (next < m_programs[stage].size()) return &m_programs[stage][next];
        return stage + 1 < m_programs.size() && !m_programs[stage + 1].empty() ? &m_programs[stage + 1][0] : nullptr;
    }

    // Drops the stores that no stage after `stage` reads.
    void dropStores(std::size_t stage)
    {
        std::unordered_set<ir::ValueId> wanted;
        for (const ir::NamedValue& o : m_session.analysis.program.outputs) wanted.insert(o.value);
        for (std::size_t later = stage + 1; later < m_session.plan.stages.size(); ++later)
            for (const plan::Loop& loop : m_session.plan.stages[later].loops)
                for (const plan::Access& read : loop.reads) wanted.insert(read.value);
        std::erase_if(m_session.stores, [&](const auto& store) {
            if (wanted.contains(store.first)) return false;
            m_session.spares.add(store.second);
            return true;
        });
        if (stage + 1 == m_session.plan.stages.size() || m_session.options.journal) m_session.spares.drop();
    }

    void loop(const LoopProgram& program, const LoopNumber& number, StageReport& report, StageProgress& progress)
    {
        LoopBooks books(m_session, program, number, report, progress);
        const Remainder left = m_recovery ? m_recovery->of(number) : Remainder();
        readInPlace(program, report.bytes);
        if (!left.needed) return pass(program, left, books);
        makeReducers(program);
        const LoopShare share{left.kept, m_recovery ? std::optional(left.ranges) : std::nullopt, after(number),
                              predictedSize(number)};
        if (m_recovery && left.ranges.empty()) books.takeOver(share.kept);
        else compute(program, report, books, share);
        finishLoop(program, left);
    }

    // With other processes: computes the parts of this one, or the ranges assigned to it, waits for the others' parts,
    // and takes those over.
    void loopsTogether(std::size_t stage, StageReport& report, StageProgress& progress)
    {
        const std::vector<LoopProgram>& programs = m_programs[stage];
        Books books;
        for (std::size_t l = 0; l < programs.size(); ++l) {
            const LoopNumber number = numberOf(stage, l);
            books.push_back(std::make_unique<LoopBooks>(m_session, programs[l], number, report, progress));
            readInPlace(programs[l], report.bytes);
            beginTogether(programs[l], number, report, *books.back());
        }
        m_commit->now();
        Dealer* const dealer = m_session.others()->dealer();
        const std::optional<Order> told =
            dealer ? std::optional(obey(*dealer, stage, report, books)) : std::optional<Order>();
        m_publishes = m_shards->finished(plan::StageId::at(stage), told);
        for (std::size_t l = 0; l < programs.size() && m_publishes; ++l)
            if (!m_recovery || m_recovery->of(numberOf(stage, l)).needed)
                takeOver(programs[l], numberOf(stage, l), report, *books[l]);
        each([&](Session& gpu, std::size_t) {
            for (const LoopProgram& program : programs)
                for (const Written& w : program.writes) gpu.residents.dropStore(w.value);
        });
        if (dealer) dealer->readBack(std::exchange(m_readBack, 0));
    }

    void beginTogether(const LoopProgram& program, const LoopNumber& number, StageReport& report, LoopBooks& books)
    {
        const Remainder* const left = m_recovery ? &m_recovery->of(number) : nullptr;
        const std::vector<Chunk> kept = left ? left->kept : std::vector<Chunk>();
        const bool complete = left && left->ranges.empty();  // then only values that are read were taken over
        if (left && !left->needed) return pass(program, *left, books);
        if (m_session.others()->dealer() == nullptr && !complete)
            return compute(program, report, books, {kept, m_shards->part(number, left)});
        if (!complete) createStores(program);
        makeReducers(program);
        m_shards->begin(number, left);
        books.takeOver(kept);
    }

    // Carries out the orders to this process at a stage. Returns the order to leave it.
    Order obey(Dealer& dealer, std::size_t stage, StageReport& report, Books& books)
    {
        const plan::StageId id = plan::StageId::at(stage);
        for (;;) {
            const Order order = unwrap(dealer.next(id, static_cast<int>(m_programs.size()), m_session.stop));
            if (order.kind == Order::Kind::Leave) return order;
            if (order.kind == Order::Kind::List) dealer.listed(m_shards->left(id, order.parts));
            else computeTold(dealer, order.range, stage, report, books);
        }
    }

    void computeTold(Dealer& dealer, const ShardRange& range, std::size_t stage, StageReport& report, Books& books)
    {
        const Ranges wanted = m_shards->take(plan::StageId::at(stage), range);
        const auto at = static_cast<std::size_t>(range.loop) - 1;
        const plan::Bytes before = report.bytes;
        if (!wanted.empty()) compute(m_programs[stage][at], report, *books[at], {{}, wanted});
        m_commit->now();  // reported work counts for others even if this process stalls from now on
        dealer.computed(sizeOf(wanted), movedSince(before, report.bytes));
    }

    // Damaged rows are computed again by the process that finds them.
    void takeOver(const LoopProgram& program, const LoopNumber& number, StageReport& report, LoopBooks& books)
    {
        const Shards::Takeover taken = m_shards->takeOver(number);
        for (const Chunk& chunk : taken.chunks) m_readBack += chunk.bytes.d2h;
        books.takeOver(taken.chunks);
        if (!taken.damaged.empty()) {
            m_session.noteOnce("stage " + std::to_string(number.stage.number) +
                               ": rows that another shard had written were damaged, and were computed again");
            books.keepWhole();
            for (const Destinations& range : taken.damaged) compute(program, report, books, {{}, Ranges{range}});
        }
        if (!taken.open.empty()) compute(program, report, books, {{}, united(taken.open)});
        if (!taken.damaged.empty() || !taken.open.empty()) m_commit->now();
        m_shards->mergeReductions(number);
        finishLoop(program, m_recovery ? m_recovery->of(number) : Remainder());
    }

    // Skips a loop whose results are not read any more: an earlier process has computed their readers.
    void pass(const LoopProgram& program, const Remainder& left, LoopBooks& books)
    {
        books.takeOver(left.kept);
        for (std::size_t w = 0; w < program.writes.size(); ++w) reportLoss(program.writes[w].value, left.kept, w);
    }

    void compute(const LoopProgram& program, StageReport& report, LoopBooks& books, const LoopShare& share)
    {
        createStores(program);
        m_session.spares.drop();
        makeReducers(program);
        if (m_gpus) {
            report.bytes += runOnGpus(m_session, *m_gpus, program, books, share, m_budget);
        } else {
            const double unused = loadResidents(m_session, program, m_budget, report.bytes);
            report.hostReads += m_session.choice.hostReads(program, m_session.structure, share.left);
            runLoop(m_session, program, books, share, m_budget - unused);
        }
        if (m_commit) m_commit->check();
    }

    void finishLoop(const LoopProgram& program, const Remainder& left)
    {
        for (std::size_t w = 0; w < program.writes.size(); ++w) {
            const ir::ValueId value = program.writes[w].value;
            const auto here = m_session.roundedHere.find(value);
            if (here != m_session.roundedHere.end()) narrowed(value, here->second);
            if (m_session.choice.onlyHere(value)) continue;
            if (m_session.stores.contains(value)) finishStore(value);
            else reportLoss(value, left.kept, w);
        }
        for (const Reduced& r : program.reductions) finishReduction(r.op);
    }

    void createStores(const LoopProgram& program)
    {
        for (const Written& w : program.writes)
            if (!m_session.choice.onlyHere(w.value)) createStore(w.value);
    }

    void makeReducers(const LoopProgram& program)
    {
        for (const Reduced& r : program.reductions) m_session.reducer(r.op);
    }

    void createStore(ir::ValueId value)
    {
        const bool there = m_session.stores.contains(value);
        m_session.createStore(value);
        if (m_commit && !there) m_commit->watch(m_session.stores.at(value));
    }

    // Reports the rounding of a store that an earlier process has written and dropped.
    void reportLoss(ir::ValueId value, const std::vector<Chunk>& chunks, std::size_t place)
    {
        std::optional<Rounding> lost;
        for (const Chunk& chunk : chunks) {
            if (place >= chunk.rows.size() || !chunk.rows[place].lost) continue;
            if (!lost) lost.emplace();
            lost->add(*chunk.rows[place].lost);
        }
        if (lost) narrowed(value, *lost);
    }

    void finishStore(ir::ValueId value)
    {
        const Store& store = *m_session.stores.at(value);
        store.checkComplete();
        if (store.isNarrow()) narrowed(value, store.rounding());
    }

    void narrowed(ir::ValueId value, const Rounding& lost)
    {
        const analysis::Analysis& a = m_session.analysis;
        m_session.report.narrowed.push_back({.value = value,
                                             .name = analysis::nameOfValue(a, value),
                                             .from = a.program.value(value).dtype,
                                             .to = analysis::storedType(a, value, m_session.storeType()),
                                             .maxAbsolute = lost.maxAbsolute,
                                             .largest = lost.largest,
                                             .infinite = lost.infinite});
    }

    void readInPlace(const LoopProgram& program, plan::Bytes& bytes)
    {
        for (const auto& [value, size] : inPlaceBytes(m_session.analysis, m_session.structure, program))
            (m_session.analysis.info(value).structureOnly ? bytes.structure : bytes.h2d) += size;
    }

    // Retries with the memory that batches have left in the allocator's cache, if necessary.
    void finishReduction(ir::OpId op)
    {
        try {
            m_session.finishReduction(op);
        } catch (const c10::OutOfMemoryError&) {
            m_session.device.synchronize();
            m_session.device.emptyCache();
            m_session.finishReduction(op);
        }
        if (m_gpus) shareWhole(m_session, *m_gpus, m_session.analysis.program.op(op).outputs.at(0));
    }

    Session& m_session;
    StagePrograms m_programs;
    std::optional<Gpus> m_gpus;  // if there are several
    double m_budget = 1;
    std::optional<TransientInputs> m_transient;
    std::optional<Recovery> m_recovery;
    std::optional<GroupCommit> m_commit;
    std::optional<Shards> m_shards;
    std::int64_t m_readBack = 0;  // bytes written by others and read back, in this stage
    bool m_publishes = true;      // the results so far are complete, and this process publishes them
};

// Whether pages of inputs stay in memory from stage to stage; stores take about as much as inputs. Pages of inputs that
// are to be emptied must not be in use for longer than needed, and devices copy the rows that they read.
bool stayInMemory(const base::TensorMap& inputs, const Options& options)
{
    std::int64_t bytes = 0;
    for (const auto& [name, view] : inputs) bytes += view.bytes();
    return options.device == "cpu" && options.transientInputs.empty() && bytes <= base::availableMemory() / 2;
}

tl::unexpected<base::Error> outOfMemory(const Options& options)
{
    const std::string limit =
        options.memory ? base::formatBytes(static_cast<double>(*options.memory)) : "the device's memory";
    return base::fail(base::ErrorCode::Resources,
                      "out of memory outside of any batch: " + limit + " is not enough for this graph", moreMemory);
}

}  // namespace

base::Result<RunReport> run(const loader::Walk& walk, const analysis::Analysis& analysis, const plan::Plan& plan,
                            const base::TensorMap& inputs, const Options& options, Observer& observer,
                            std::stop_token stop, std::shared_ptr<Structure> known)
{
    installCpuAllocator();
    const graph::ScratchScope scratch(options.memory && options.device == "cpu");
    const c10::InferenceMode inference;
    const Cores cores(options.threads.value_or(0));
    return catchAtBoundary(
        [&] {
            const std::shared_ptr<Structure> structure =
                known
                    ? std::move(known)
                    : std::make_shared<Structure>(walk, analysis, inputs, options.folder, at::get_num_threads(), stop);
            structure->stopBy(stop);
            if (!options.cache.empty()) structure->cacheIn(options.cache);
            if (stayInMemory(inputs, options)) structure->readColumnsInPlace();
            Session session(*structure, analysis, plan, options, observer, std::move(stop));
            return Runner(session).run();
        },
        [&] { return outOfMemory(options); });
}

}  // namespace hopscope::executor
