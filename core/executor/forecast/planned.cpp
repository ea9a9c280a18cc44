#include "executor/forecast/planned.h"

#include <algorithm>
#include <utility>

#include <ATen/Parallel.h>

#include "analysis/stored.h"
#include "executor/calls/number.h"
#include "executor/device/device_context.h"
#include "executor/executor.h"
#include "executor/loop/gpu_tiles.h"

namespace hopscope::forecast {

using ir::RowClass;
using ir::RowKind;

namespace {

constexpr double usableShare = 0.56;  // of a budget: the part that a batch sizer uses once it has learned

// Batches of a loop on a GPU whose tables are there: enough of them to overlap, each long enough not to notice its
// fixed costs. Where they take much memory, tables that need not be copied again are worth more than large batches.
constexpr std::int64_t batchesOfLoop = 32;
constexpr double shareOfBatch = 0.05;  // of the memory

// The bytes that a batch on a GPU may use.
double allowedOnGpu(double budget, double outside, const PredictOptions& options)
{
    return usableShare * executor::leftToBatches(budget, outside, options.memory);
}

std::set<RowClass> frontiers(const plan::Loop& loop)
{
    std::set<RowClass> classes;
    for (const plan::FrontierSource& s : loop.frontier)
        classes.insert({.kind = RowKind::Frontier, .table = s.type, .key = {}});
    return classes;
}

// Of the tables of the values that stages work on; others may have no rows to count.
std::map<ir::SpaceId, double> rowsOfTables(const analysis::Analysis& analysis, executor::Structure& structure)
{
    std::map<ir::SpaceId, double> rows;
    for (const ir::Value& v : analysis.program.values) {
        if (!analysis.hasRows(v.id) || analysis.info(v.id).structureOnly) continue;
        const ir::SpaceId table = analysis.rowSpace(v.id);
        rows[table] = static_cast<double>(structure.size(table));
    }
    return rows;
}

// Kernels of the run read no part of some tables that the plan divides.
std::optional<plan::Plan> withWholeTables(const analysis::Analysis& analysis, const plan::Plan& plan,
                                          const PredictOptions& options)
{
    const bool steady = isSteady(plan, options);
    const auto whole = [&](const plan::CachedTable& c) {
        return !executor::canDivide(analysis, c.value, options.store, steady);
    };
    if (std::ranges::none_of(plan.cached, whole)) return std::nullopt;
    plan::Plan made = plan;
    std::erase_if(made.cached, whole);
    return made;
}

// As a run cuts its loops: tiles must fit into the memory of each GPU.
void cutTiles(const analysis::Analysis& analysis, executor::Structure& structure, const plan::Plan& plan,
              const PredictOptions& options, executor::StagePrograms& programs)
{
    double bytes = std::numeric_limits<double>::max();
    for (const std::string& gpu : executor::devicesOf(plan.device)) {
        const executor::DeviceContext device(gpu);
        bytes = std::min(bytes, static_cast<double>(executor::steadyBatchBytes(options.memory, device)));
    }
    const executor::ResidentChoice choice(analysis, plan, structure.same(), true, true);
    executor::tileOnGpu(analysis, structure, choice, programs, options.batch, std::max(bytes, 1.0));
}

double budgetOf(const plan::Plan& plan, std::optional<std::int64_t> memory)
{
    return executor::DeviceContext(plan.device).budget(memory);
}

// The tiles that each worker computes, or 1.
double tilesEach(const executor::LoopProgram& program, std::int64_t destinations)
{
    if (!program.tiling) return 1;
    return static_cast<double>(destinations) / static_cast<double>(program.tiling->rows * program.tiling->workers);
}

}  // namespace

Known::Known(const analysis::Analysis& analysis, const Outside::MakeStructure& fresh, const std::string& folder,
             std::stop_token stop)
    : structure(fresh(std::move(stop))),
      counts(analysis, *structure),
      outside(analysis, *structure, fresh, folder),
      reuse(*structure),
      compiled(analysis, *structure)
{}

bool isSteady(const plan::Plan& plan, const PredictOptions& options)
{
    return plan.device != "cpu" && (options.journal || executor::devicesOf(plan.device).size() > 1);
}

Planned::Planned(const analysis::Analysis& analysis, Known& known, const plan::Plan& plan,
                 const PredictOptions& options, std::stop_token stop)
    : m_analysis(analysis),
      m_known(known),
      m_structure(*known.structure),
      m_counts(known.counts),
      m_whole(withWholeTables(analysis, plan, options)),
      m_plan(m_whole ? *m_whole : plan),
      m_choice(analysis, m_plan, m_structure.same(), plan.device != "cpu", options.journal),
      m_stop(std::move(stop))
{}

Prediction Planned::predict(const PredictOptions& options, Peaks peaks)
{
    if (m_loops.empty()) compile(options);
    Prediction prediction;
    m_peaks = peaks == Peaks::Yes;
    const std::int64_t size = batchSize(options, m_peaks ? Probing::Yes : forComparison(options));
    prediction.batch = smallestBatch(size);
    m_held.emplace(m_choice, m_structure, m_peaks ? baseline(options.staysBeside, Probing::Yes) : 0);
    m_eachBatch = options.eachBatch;
    for (std::size_t s = 0; s < m_plan.stages.size(); ++s) prediction.stages.push_back(stage(s, size));
    for (const plan::Checkpoint& c : m_plan.checkpoints)
        prediction.stored[c.value] = analysis::storedBytes(
            m_analysis, c.value, options.store, executor::wholeBytes(m_analysis, c.value, m_structure.sizes()));
    return prediction;
}

plan::RowCounts Planned::countRows(const PredictOptions& options)
{
    if (m_loops.empty()) compile(options);
    plan::RowCounts rows{.tables = rowsOfTables(m_analysis, m_structure), .frontiers = {}, .batches = {}};
    const std::int64_t size = batchSize(options, forComparison(options));
    plan::RowCounts loops;
    for (const auto& stage : m_loops)
        for (const PlannedLoop& l : stage) countLoop(l, size, rows, loops);
    for (auto& [types, sum] : rows.frontiers) sum /= loops.frontiers.at(types);
    for (auto& [destination, sum] : rows.batches) sum /= loops.batches.at(destination);
    return rows;
}

// Tiles read tables in place: each row once, as a single batch would; and the calls of operators are divided among
// them. `loops` counts the loops that are added up.
void Planned::countLoop(const PlannedLoop& l, std::int64_t most, plan::RowCounts& rows, plan::RowCounts& loops)
{
    const plan::Loop& loop = *l.program.loop;
    const std::int64_t all = std::max<std::int64_t>(m_structure.size(loop.destination), 1);
    const std::int64_t size = l.program.tiling ? all : sizeOf(l, most);
    const double batches =
        static_cast<double>(m_counts.of(loop, {RowKind::Batch, loop.destination, {}}, size).perBatch.size());
    rows.batches[loop.destination] += batches * tilesEach(l.program, all);
    loops.batches[loop.destination] += 1;
    if (l.program.tiling) ++rows.tiledLoops;
    for (const RowClass& frontier : frontiers(loop)) {
        const std::pair types(loop.destination, frontier.table);
        rows.frontiers[types] += static_cast<double>(m_counts.of(loop, frontier, size).total);
        loops.frontiers[types] += 1;
    }
}

std::vector<StageTime> Planned::times(const PredictOptions& options, const plan::Machine& machine, Peaks peaks)
{
    if (m_loops.empty()) compile(options);
    const WallTable walls(machine);
    m_known.compiled.timedOn(machine);
    const std::int64_t size = batchSize(options, peaks == Peaks::Yes ? Probing::Yes : forComparison(options));
    const Prediction copies = gpu() ? predict(options) : Prediction{};
    std::vector<StageTime> times;
    for (std::size_t s = 0; s < m_loops.size(); ++s) {
        Timing sum;
        for (const PlannedLoop& l : m_loops[s]) sum.add(timing(l, size, walls));
        if (gpu()) sum.link(copies.stages[s].bytes, copies.stages[s].hostReads, walls);
        times.push_back({.index = m_plan.stages[s].index,
                         .seconds = sum.seconds,
                         .boundSeconds = sum.boundSeconds(),
                         .wall = sum.wall()});
    }
    return times;
}

Timing Planned::timing(const PlannedLoop& l, std::int64_t size, const WallTable& walls)
{
    const std::int64_t rows = sizeOf(l, size);
    if (gpu()) return timed(l, rows, walls);
    const auto known = l.compiled->times.find(rows);
    return known != l.compiled->times.end() ? known->second : l.compiled->times[rows] = timed(l, rows, walls);
}

Timing Planned::timed(const PlannedLoop& l, std::int64_t rows, const WallTable& walls)
{
    const RowClass own{RowKind::Batch, l.program.loop->destination, {}};
    LoopRun run{.program = l.program, .rows = [&](const RowClass& on) -> double {
                    return static_cast<double>(on.kind == RowKind::All ? 0
                                                                       : m_counts.of(*l.program.loop, on, rows).total);
                }};
    run.gpu = gpu();
    run.batches = static_cast<double>(m_counts.of(*l.program.loop, own, rows).perBatch.size());
    if (l.program.tiling) run.workers = l.program.tiling->workers;
    return timingOf(m_analysis, m_structure, run, walls, m_known.reuse);
}

void Planned::compile(const PredictOptions& options)
{
    m_loops.clear();
    if (!gpu()) return compileOnCpu(options);
    m_programs = executor::compileStages(m_analysis, m_plan, m_choice, m_structure,
                                         executor::Families::of(options.fuse, true), std::nullopt, options.store);
    if (isSteady(m_plan, options)) cutTiles(m_analysis, m_structure, m_plan, options, m_programs);
    for (const auto& programs : m_programs) {
        auto& loops = m_loops.emplace_back();
        for (const executor::LoopProgram& p : programs) loops.emplace_back(m_known.compiled.onGpu(p, m_choice));
    }
}

// The compiled loops depend on the options.
void Planned::compileOnCpu(const PredictOptions& options)
{
    const executor::TilingRequest request{.batch = options.batch,
                                          .tile = options.tile,
                                          .budget = budgetOf(m_plan, options.memory),
                                          .threads = at::get_num_threads(),
                                          .store = options.store};
    const executor::LoopCompiler compiler(m_analysis, m_choice, m_structure,
                                          executor::Families::of(options.fuse, false), request);
    executor::StoredValues stored;
    m_known.compiled.begin(options);
    for (const plan::Stage& stage : m_plan.stages) {
        auto& loops = m_loops.emplace_back();
        for (const plan::Loop& loop : stage.loops)
            loops.emplace_back(m_known.compiled.onCpu(loop, stored, compiler, m_choice, m_known.outside));
        for (const plan::Loop& loop : stage.loops)
            for (const plan::Access& w : loop.writes) stored.insert(w.value);
    }
}

std::int64_t Planned::largestBatch()
{
    std::int64_t rows = 1;
    for (const auto& loops : m_loops)
        for (const PlannedLoop& l : loops)
            rows = std::max(rows, sizeOf(l, m_structure.size(l.program.loop->destination)));
    return rows;
}

// The smallest batch of loops that do not take all of their destinations at once.
std::int64_t Planned::smallestBatch(std::int64_t size)
{
    for (const auto& loops : m_loops)
        for (const PlannedLoop& l : loops)
            if (!l.program.tiling && sizeOf(l, size) < m_structure.size(l.program.loop->destination))
                size = sizeOf(l, size);
    return size;
}

// Without a limit, the memory of a batch is a matter of choice, and not worth a dry run of each loop of each plan that
// is only compared with others.
Planned::Probing Planned::forComparison(const PredictOptions& options) const
{
    return gpu() || options.memory ? Probing::Yes : Probing::No;
}

std::int64_t Planned::batchSize(const PredictOptions& options, Probing probing)
{
    if (options.batch) return *options.batch;
    if (gpu()) return batchSizeOnGpu(options);
    const std::int64_t size = largestBatch();
    const double allowed = usableShare * std::max(budgetOf(m_plan, options.memory), 1.0);
    for (auto& loops : m_loops)
        for (PlannedLoop& l : loops)
            if (!l.program.tiling) l.most = fitting(l, allowed, probing);
    return size;
}

std::int64_t Planned::fitting(const PlannedLoop& l, double allowed, Probing probing)
{
    const std::int64_t all = std::max<std::int64_t>(m_structure.size(l.program.loop->destination), 1);
    const auto fits = [&](std::int64_t size, Rows rows) { return memoryOf(l, size, rows, probing) <= allowed; };
    return firstFraction(
        all, [&](std::int64_t size) { return fits(size, Rows::Bounded); },
        [&](std::int64_t size) { return probing == Probing::Yes && fits(size, Rows::Counted); });
}

// Halves of all destinations until they fit, in each loop for itself.
std::int64_t Planned::batchSizeOnGpu(const PredictOptions& options)
{
    followOnGpu(Probing::Yes);
    const double all = budgetOf(m_plan, options.memory);
    const executor::SlotBytes slot = executor::slotBytes(m_analysis, m_structure, m_choice, m_programs, {});
    for (auto& loops : m_loops)
        for (PlannedLoop& l : loops) {
            if (l.program.gpuTile) continue;
            const std::int64_t count = std::max<std::int64_t>(m_structure.size(l.program.loop->destination), 1);
            std::int64_t size = count;
            const double allowed = allowedOnGpu(all, l.outside, options);
            const auto memory = [&] { return memoryOf(l, size, Rows::Bounded, Probing::Yes); };
            while (size > 1 && besideCopies(m_counts, m_choice, l.program, size, memory()) > allowed)
                size = (size + 1) / 2;
            l.most = std::min(atOnceOnGpu(m_counts, m_choice, l.program, l.traffic, slot, size, count), size);
        }
    return largestBatch();
}

bool Planned::leavesEnough(const PredictOptions& options, Peaks peaks)
{
    if (m_loops.empty()) compile(options);
    const Probing probing = peaks == Peaks::Yes ? Probing::Yes : Probing::No;
    followOnGpu(probing);
    const double all = budgetOf(m_plan, options.memory);
    for (const auto& loops : m_loops)
        for (const PlannedLoop& l : loops) {
            const std::int64_t size = options.batch ? *options.batch : quickEnough(l, all, options, probing);
            if (memoryOf(l, size, Rows::Bounded, probing) > allowedOnGpu(all, l.outside, options)) return false;
        }
    return true;
}

std::int64_t Planned::quickEnough(const PlannedLoop& l, double budget, const PredictOptions& options, Probing probing)
{
    if (l.program.gpuTile) return *l.program.gpuTile;
    const double allowed = allowedOnGpu(budget * shareOfBatch, 0, options);
    std::int64_t size = std::max<std::int64_t>(m_structure.size(l.program.loop->destination) / batchesOfLoop, 1);
    while (size > 1 && memoryOf(l, size, Rows::Bounded, probing) > allowed) size = (size + 1) / 2;
    return size;
}

void Planned::followOnGpu(Probing probing)
{
    m_held.emplace(m_choice, m_structure, baseline(false, probing));
    for (std::size_t s = 0; s < m_loops.size(); ++s) {
        for (PlannedLoop& l : m_loops[s]) {
            prepares(l, probing);
            m_held->loads(l.program);
            l.outside = m_held->bytes() + m_held->unused();
            reduces(l);
        }
        m_held->drops(s, m_programs);
    }
}

// Bytes held before any batch. On a GPU these are left by other runs; weights come with the loops.
double Planned::baseline(bool staysBeside, Probing probing)
{
    if (!gpu()) return static_cast<double>(m_known.outside.before(programsOf(), staysBeside, m_stop));
    for (const auto& loops : m_loops)
        for (const PlannedLoop& l : loops)
            if (probing == Probing::Yes) learntAbout(l);
    return static_cast<double>(executor::DeviceContext(m_plan.device).memory().current);
}

std::vector<const executor::LoopProgram*> Planned::programsOf() const
{
    std::vector<const executor::LoopProgram*> programs;
    for (const auto& loops : m_loops)
        for (const PlannedLoop& l : loops) programs.push_back(&l.program);
    return programs;
}

// Adds the values that a loop evaluates once for all of its batches: on a GPU beforehand.
void Planned::prepares(const PlannedLoop& l, Probing probing)
{
    const LoopMemory* const learnt = gpu() && probing == Probing::Yes ? learntAbout(l) : nullptr;
    if (!gpu()) {
        for (const ir::ValueId v : l.compiled->evaluated) m_held->stays(v, m_known.outside.bytes(v));
    } else if (learnt) {
        for (const auto& [value, bytes] : learnt->whole()) m_held->stays(value, bytes);
    } else {
        for (const ir::ValueId v : executor::wholeOperands(l.program))
            m_held->stays(v, executor::countedOnGpu(executor::wholeBytes(m_analysis, v, m_structure.sizes())));
    }
}

void Planned::reduces(const PlannedLoop& l)
{
    for (const executor::Reduced& r : l.program.reductions) {
        const ir::ValueId out = m_analysis.program.op(r.op).outputs.at(0);
        m_held->stays(out, gpu() ? executor::countedOnGpu(executor::wholeBytes(m_analysis, out, m_structure.sizes()))
                                 : m_known.outside.bytes(out));
    }
}

PredictedStage Planned::stage(std::size_t at, std::int64_t size)
{
    const std::vector<PlannedLoop>& loops = m_loops[at];
    PredictedStage result;
    result.index = m_plan.stages[at].index;
    if (!gpu() && m_peaks)
        for (const PlannedLoop& l : loops) prepares(l, Probing::Yes);
    for (const PlannedLoop& l : loops) {
        if (gpu() && m_peaks) prepares(l, Probing::Yes);
        result.loaded += m_held->loads(l.program);
        addLoop(result, l, size);
        if (gpu()) reduces(l);
    }
    if (!gpu())
        for (const PlannedLoop& l : loops) reduces(l);
    result.bytes += result.loaded;
    for (const auto& [value, bytes] : result.read) result.bytes.h2d += bytes;
    m_held->drops(at, m_programs);
    return result;
}

void Planned::addTraffic(PredictedStage& result, const PlannedLoop& l, std::int64_t size)
{
    for (const auto& [rows, traffic] : l.traffic.rows) {
        const std::int64_t total = m_counts.of(*l.program.loop, rows, size).total;
        result.bytes.d2h += traffic.written * total;
        result.bytes.structure += traffic.structure * total;
        for (const auto& [value, bytes] : traffic.read) result.read[value] += bytes * total;
    }
    result.bytes.structure += l.traffic.once.structure;
    result.hostReads += l.traffic.hostReads;
    for (const auto& [value, bytes] : l.traffic.once.read) result.read[value] += bytes;
}

void Planned::addLoop(PredictedStage& result, const PlannedLoop& l, std::int64_t most)
{
    const std::int64_t size = sizeOf(l, most);
    const plan::Loop& loop = *l.program.loop;
    const Counts own = m_counts.of(loop, {RowKind::Batch, loop.destination, {}}, size);
    result.batches += static_cast<std::int64_t>(own.perBatch.size());
    result.destinations += own.total;
    for (const RowClass& rows : frontiers(loop))
        if (l.program.frontiers.contains(rows.table)) result.frontierRows += m_counts.of(loop, rows, size).total;
    addTraffic(result, l, size);
    result.bytes.structure += l.traffic.numbersPerBatch * static_cast<std::int64_t>(own.perBatch.size());
    if (m_peaks) addMemory(result, l, own, size);
    const bool known = m_peaks && !gpu() && !l.program.tiling && learntAbout(l);
    result.sizes.push_back(known ? std::optional(size) : std::nullopt);
}

}  // namespace hopscope::forecast
