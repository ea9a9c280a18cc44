#include "executor/forecast/probe.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <set>

#include <ATen/Parallel.h>

#include "analysis/stored.h"
#include "base/proc.h"
#include "executor/batch/batch.h"
#include "executor/calls/dense.h"
#include "executor/device/device_trace.h"
#include "loader/one_thread.h"
#include "loader/tensors.h"

namespace hopscope::forecast {

using ir::RowClass;
using ir::RowKind;

namespace {

constexpr std::array<std::int64_t, 5> sizes{3, 7, 12, 18, 29};  // destinations
constexpr std::int64_t places = 24;                             // of the table, that are looked at for each size
constexpr std::int64_t placesApart = 7;                         // of two sizes
constexpr std::int64_t mostRows = 1 << 15;                      // owned by a probe
constexpr std::int64_t shareForTable = 4;                       // of the memory, for an input whose rows are read
constexpr std::int64_t fewRows = 1 << 12;                       // which take no time
constexpr std::size_t remembered = 64;                          // loops
constexpr std::size_t batchesRemembered = 4096;                 // of a loop, that differ in their rows

// Zeros that take no memory until they are written, and never a file.
at::Tensor zeros(const std::vector<std::int64_t>& shape, at::ScalarType type)
{
    std::size_t bytes = c10::elementSize(type);
    for (const std::int64_t n : shape) bytes *= static_cast<std::size_t>(n);
    const at::TensorOptions options = at::TensorOptions().dtype(type);
    if (bytes == 0) return at::zeros(shape, options);
    void* const memory =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) executor::raise(base::ErrorCode::Resources, "no address space for a table");
    return at::from_blob(
        memory, shape, [bytes](void* p) { ::munmap(p, bytes); }, options);
}

class Prober {
public:
    Prober(const analysis::Analysis& analysis, executor::Structure& structure, const plan::Plan& plan,
           const executor::LoopProgram& program, std::stop_token stop)
        : m_analysis(analysis),
          m_structure(structure),
          m_program(program),
          m_options(on(plan.device, program.store)),
          m_session(structure, analysis, plan, m_options, m_silent, std::move(stop)),
          m_block(structure, analysis, *program.loop),
          m_batch(m_session, program, m_block)
    {
        m_session.standIn = [this](ir::ValueId v) { return standIn(v); };
    }

    DryRun single(const executor::Destinations& range)
    {
        once(range);  // creates the state that outlives the first batch
        return {.peak = peakOf(once(range).events), .reduced = reduced()};
    }

    Probed run()
    {
        const std::vector<executor::Destinations> ranges = choose();
        if (ranges.empty()) return {};
        Probed probed;
        probed.gpu = m_session.device.gpu();
        if (probed.gpu)
            for (const ir::ValueId v : executor::wholeOperands(m_program)) m_session.whole(v);
        probed.whole = m_session.wholeBytes();
        const executor::MarkedProducts marked;
        once(ranges.front());  // creates the state that outlives the first batch
        for (const executor::Destinations& range : ranges) probed.batches.push_back(once(range));
        probed.reduced = reduced();
        return probed;
    }

private:
    std::int64_t reduced() const
    {
        std::int64_t bytes = 0;
        for (const auto& [op, reducer] : m_session.reducers) bytes += reducer.heldBytes();
        return bytes;
    }

    static executor::Options on(const std::string& device, base::StoreType store)
    {
        executor::Options options;
        options.device = executor::devicesOf(device).front();
        options.store = store;
        return options;
    }

    at::Tensor standIn(ir::ValueId v)
    {
        const ir::Value& value = m_analysis.program.value(v);
        if (value.origin == ir::Origin::Input && base::isFloating(value.dtype) && m_analysis.hasRows(v) &&
            exceedsMemory(m_structure.value(v)))
            return zerosFor(v);
        if (value.origin != ir::Origin::Op || m_analysis.info(v).sparse) return {};
        if (!m_analysis.available(v) && !m_analysis.hasRows(v) && !reduced(value)) return {};  // evaluated from others
        return zerosFor(v);
    }

    // Single rows of such a file would bring in megabytes around each of them.
    static bool exceedsMemory(const at::Tensor& table)
    {
        return static_cast<std::int64_t>(table.nbytes()) > base::availableMemory() / shareForTable;
    }

    at::Tensor zerosFor(ir::ValueId v)
    {
        at::Tensor& table = m_tables[v];
        if (!table.defined())
            table = zeros(executor::shapeOf(m_analysis, v, m_structure.sizes()),
                          loader::scalarType(analysis::storedType(m_analysis, v, m_program.store)));
        return table;
    }

    [[nodiscard]] bool reduced(const ir::Value& value) const
    {
        return m_analysis.info(value.producer).kind == analysis::OpKind::Reduce;
    }

    // For each size the place where most classes have rows, if they are not too many, and rather few. Each size looks
    // elsewhere first: where all places are alike in this, batches that differ in the rows of their destinations tell more.
    std::vector<executor::Destinations> choose()
    {
        const std::int64_t count = m_structure.size(m_program.loop->destination);
        std::vector<executor::Destinations> ranges;
        std::int64_t first = 0;
        for (const std::int64_t wanted : sizes) {
            const std::int64_t n = std::min(wanted, count);
            std::optional<executor::Destinations> best;
            std::size_t most = 0;
            first += placesApart;
            for (std::int64_t i = 0; n > 0 && i < places; ++i) {
                const executor::Destinations range{(count - n) * ((first + i) % places) / places, n, nullptr};
                const std::size_t met = classesMet(range);
                if (met > most) best = range, most = met;
            }
            if (best) ranges.push_back(*best);
        }
        return ranges;
    }

    // Twice the number of owned classes with rows, and one more where these are few; 0: there are too many rows.
    std::size_t classesMet(const executor::Destinations& range)
    {
        std::size_t met = 1;
        std::int64_t all = 0;
        for (const RowClass& rows : m_program.classes) {
            const std::int64_t n = m_block.countFor(rows, range);
            met += n > 0;
            all += n;
        }
        return all > mostRows ? 0 : 2 * met + (all <= fewRows);
    }

    ProbedBatch once(const executor::Destinations& range)
    {
        m_session.checkStop();
        ProbedBatch probed;
        m_block.begin(range);
        probed.events = m_session.device.gpu() ? onGpu() : onCpu();
        for (const RowClass& rows : classesOf(m_program)) probed.rows[rows] = m_block.count(rows);
        m_batch.clear();
        m_block.end();
        return probed;
    }

    std::vector<executor::AllocationTrace::Event> onCpu()
    {
        const executor::AllocationTrace trace(executor::AllocationTrace::Spilled::Record);  // a run spills none of them
        m_batch.compute();
        executor::mergeInto(m_session, m_batch.takeContributions());
        return trace.events();
    }

    // Copies through pageable memory, since the batches are small.
    std::vector<executor::AllocationTrace::Event> onGpu()
    {
        executor::StagingChunk none;
        m_batch.stage(none);
        m_batch.uploadStructure();
        const executor::DeviceTrace trace(m_session.device.device());
        m_batch.upload();
        m_session.device.order(executor::Lane::Upload, executor::Lane::Compute);
        m_batch.compute();
        m_session.device.order(executor::Lane::Compute, executor::Lane::Download);
        m_batch.collect(none);
        m_batch.keep();
        executor::mergeInto(m_session, m_batch.takeContributions());
        m_session.device.synchronize();
        return trace.events();
    }

    const analysis::Analysis& m_analysis;
    executor::Structure& m_structure;
    const executor::LoopProgram& m_program;
    executor::Options m_options;
    executor::Observer m_silent;
    executor::Session m_session;
    executor::Block m_block;
    executor::Batch m_batch;
    std::map<ir::ValueId, at::Tensor> m_tables;
};

bool byOneDnn(const ir::Program& program, const ir::Op& op)
{
    const std::optional<executor::DenseShape> shape = executor::denseShape(program, op);
    return shape && executor::prefersOneDnn(*shape);
}

// Strips, and products of oneDNN, take memory for each thread of a run. All else is probed by one thread: several would
// mostly wait for each other. Tiles work on one thread each.
bool takesMemoryPerThread(const analysis::Analysis& analysis, const plan::Plan& plan,
                          const executor::LoopProgram& program)
{
    if (plan.device != "cpu" || (program.tiling && program.tiling->workers > 1)) return false;
    return std::ranges::any_of(program.instructions, [&](const executor::Instruction& i) {
        return i.act == executor::Act::Strips ||
               (i.act == executor::Act::Call && byOneDnn(analysis.program, analysis.program.op(i.op)));
    });
}

std::vector<executor::Act> actsOf(const executor::LoopProgram& program)
{
    std::vector<executor::Act> acts;
    for (const executor::Instruction& i : program.instructions) acts.push_back(i.act);
    return acts;
}

// Whether the failure is one of the GPU itself, which takes no work any more: the run would fail elsewhere, for no reason
// that could be seen.
bool lostOn(const plan::Plan& plan) { return plan.device != "cpu" && executor::deviceLost(); }

// The result of `work`, which runs the loop dry; nullopt if that is not possible.
template <class Work>
auto attempt(const analysis::Analysis& analysis, executor::Structure& structure, const plan::Plan& plan,
             const executor::LoopProgram& program, std::stop_token stop, Work&& work)
    -> std::optional<decltype(work(std::declval<Prober&>()))>
{
    std::optional<loader::OneThread> alone;
    if (!takesMemoryPerThread(analysis, plan, program)) alone.emplace();
    try {
        Prober prober(analysis, structure, plan, program, std::move(stop));
        return work(prober);
    } catch (const executor::Failure& failure) {
        if (failure.error.code == base::ErrorCode::Cancelled || lostOn(plan)) throw;
    } catch (const c10::OutOfMemoryError&) {
        if (plan.device == "cpu") throw;
        // The GPU is filled by other programs: a run may find room.
    } catch (const c10::Error&) {
        if (lostOn(plan)) throw;
        // An operator needs numbers other than zero: nothing is learnt.
    }
    return std::nullopt;
}

}  // namespace

Probed probe(const analysis::Analysis& analysis, executor::Structure& structure, const plan::Plan& plan,
             const executor::LoopProgram& program, std::stop_token stop)
{
    const auto work = [](Prober& prober) { return prober.run(); };
    return attempt(analysis, structure, plan, program, std::move(stop), work).value_or(Probed{});
}

std::optional<DryRun> runDry(const analysis::Analysis& analysis, executor::Structure& structure, const plan::Plan& plan,
                             const executor::LoopProgram& program, const executor::Destinations& destinations,
                             std::stop_token stop)
{
    const auto work = [&destinations](Prober& prober) { return prober.single(destinations); };
    return attempt(analysis, structure, plan, program, std::move(stop), work);
}

const LoopMemory* LoopMemories::of(const analysis::Analysis& analysis, executor::Structure& structure,
                                   const plan::Plan& plan, const executor::LoopProgram& program, std::stop_token stop)
{
    std::vector<ir::ValueId> divided;  // memory does not depend on the shares
    for (const plan::CachedTable& c : plan.cached) divided.push_back(c.value);
    const auto known = std::ranges::find_if(m_known, [&](const Known& k) {
        return k.loop == *program.loop && k.device == plan.device && k.resident == plan.resident &&
               k.divided == divided && k.residentStructure == plan.residentStructure &&
               k.tiled == program.tiling.has_value() && k.threads == at::get_num_threads() &&
               k.store == program.store &&
               std::ranges::equal(k.acts, program.instructions, {}, {}, &executor::Instruction::act);
    });
    if (known != m_known.end()) m_known.splice(m_known.begin(), m_known, known);
    else
        m_known.push_front({.loop = *program.loop,
                            .device = plan.device,
                            .resident = plan.resident,
                            .divided = divided,
                            .residentStructure = plan.residentStructure,
                            .tiled = program.tiling.has_value(),
                            .acts = actsOf(program),
                            .threads = at::get_num_threads(),
                            .store = program.store,
                            .memory = LoopMemory::learn(probe(analysis, structure, plan, program, std::move(stop))),
                            .single = {}});
    if (m_known.size() > remembered) m_known.pop_back();
    const std::optional<LoopMemory>& memory = m_known.front().memory;
    return memory ? &*memory : nullptr;
}

std::optional<DryRun> LoopMemories::single(const analysis::Analysis& analysis, executor::Structure& structure,
                                           const plan::Plan& plan, const executor::LoopProgram& program,
                                           const executor::Destinations& destinations,
                                           const std::vector<std::int64_t>& rows, std::stop_token stop)
{
    if (std::reduce(rows.begin(), rows.end()) > mostRows) return std::nullopt;
    (void)of(analysis, structure, plan, program, stop);
    auto& known = m_known.front().single;
    const auto it = known.find(rows);
    if (it != known.end()) return it->second;
    if (known.size() >= batchesRemembered) known.clear();
    return known[rows] = runDry(analysis, structure, plan, program, destinations, std::move(stop));
}

std::vector<RowClass> classesOf(const executor::LoopProgram& program)
{
    std::set<RowClass> classes(program.classes.begin(), program.classes.end());
    classes.insert({.kind = RowKind::Batch, .table = program.loop->destination, .key = {}});
    for (const ir::SpaceId type : program.frontiers)
        classes.insert({.kind = RowKind::Frontier, .table = type, .key = {}});
    for (const executor::RegisterInfo& r : program.registers)
        if (r.rows.kind != RowKind::All) classes.insert(r.rows);
    return {classes.begin(), classes.end()};
}

}  // namespace hopscope::forecast
