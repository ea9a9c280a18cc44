#include "executor/predict.h"

#include <algorithm>
#include <unordered_set>

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include "executor/batching.h"
#include "executor/class_counts.h"
#include "executor/device_context.h"
#include "executor/door.h"
#include "executor/outside.h"
#include "executor/probe.h"
#include "executor/traffic.h"

namespace hopscope::executor {

using ir::RowClass;
using ir::RowKind;

namespace {

constexpr double usableShare = 0.56;  // of a budget, as the batch sizer uses it with what it has learned

struct PlannedLoop {
    const LoopProgram& program;
    Traffic traffic;
    MemoryModel memory;
};

// What follows from the graph alone, and from loops that have been looked at before.
struct Known {
    Known(const analysis::Analysis& analysis, const Outside::MakeStructure& fresh, const std::string& folder,
          std::stop_token stop)
        : structure(fresh(std::move(stop))),
          counts(analysis, *structure),
          outside(analysis, *structure, fresh, folder)
    {}

    std::unique_ptr<Structure> structure;
    ClassCounts counts;
    LoopMemories memories;
    Outside outside;
};

// One call: the loops of a plan as programs, and what follows from them.
class Planned {
public:
    Planned(const analysis::Analysis& analysis, Known& known, const plan::Plan& plan, std::stop_token stop)
        : m_analysis(analysis),
          m_known(known),
          m_structure(*known.structure),
          m_counts(known.counts),
          m_plan(plan),
          m_choice(analysis, plan, plan.device != "cpu"),
          m_stop(std::move(stop))
    {
        compile();
    }

    Prediction predict(const PredictOptions& options)
    {
        Prediction prediction;
        prediction.batch = batchSize(options);
        m_baseline = baseline() + (options.staysBeside && !gpu() ? static_cast<double>(m_structure.heldBytes()) : 0.0);
        m_parts.clear();
        m_eachBatch = options.eachBatch;
        for (std::size_t s = 0; s < m_plan.stages.size(); ++s) prediction.stages.push_back(stage(s, prediction.batch));
        return prediction;
    }

    // Tables that stages read, with what is copied less for each byte that it takes to keep them: the best first.
    std::vector<std::pair<double, ir::ValueId>> candidates(const Prediction& copied)
    {
        std::vector<std::pair<double, ir::ValueId>> found;
        for (const ir::ValueId v : tablesRead()) {
            const auto size = static_cast<double>(wholeBytes(m_analysis, m_structure, v));
            double saved = 0;
            for (const PredictedStage& s : copied.stages)
                if (const auto it = s.read.find(v); it != s.read.end()) saved += static_cast<double>(it->second);
            const bool stored = !m_analysis.available(v);
            if (m_analysis.info(v).structureOnly) saved = 2 * size;  // counted as structure, read by several stages
            if (size > 0 && (stored || saved > size)) found.emplace_back((stored ? saved + size : saved) / size, v);
        }
        std::ranges::sort(found, [](const auto& a, const auto& b) {
            return a.first != b.first ? a.first > b.first : a.second < b.second;
        });
        return found;
    }

    // Bytes of the parts that a plan keeps, if all are there at once.
    double keptBytes()
    {
        std::set<ResidentPart> all;
        for (const auto& loops : m_programs)
            for (const LoopProgram& p : loops)
                for (ResidentPart part : m_choice.parts(p)) {
                    if (part.kind == ResidentPart::Store) part.kind = ResidentPart::Table;
                    all.insert(part);
                }
        double bytes = 0;
        for (const ResidentPart& part : all) bytes += static_cast<double>(m_choice.bytes(part, m_structure));
        return bytes;
    }

    // What a run gives its batches, and what stays beside them.
    double budget(std::optional<std::int64_t> memory)
    {
        const DeviceContext device(m_plan.device);
        if (gpu()) return memory ? static_cast<double>(*memory) : static_cast<double>(device.freeMemory()) / 1.5;
        const double bytes = memory ? static_cast<double>(tensorLimit(*memory) - cpuMemory().current)
                                    : static_cast<double>(device.freeMemory()) / 4;
        return std::min(bytes, cpuBatchBytes);
    }

    plan::RowCounts countRows(const PredictOptions& options)
    {
        plan::RowCounts rows;
        for (const ir::SpaceId table : tables()) rows.tables[table] = static_cast<double>(m_structure.size(table));
        const std::int64_t size = batchSize(options);
        std::map<std::pair<ir::SpaceId, ir::SpaceId>, double> loops;
        for (const auto& stage : m_loops)
            for (const PlannedLoop& l : stage) countLoop(l, size, rows, loops);
        for (auto& [types, sum] : rows.frontiers) sum /= loops.at(types);
        return rows;
    }

private:
    // Of the values that stages work on; others may have no rows to count.
    [[nodiscard]] std::set<ir::SpaceId> tables() const
    {
        std::set<ir::SpaceId> used;
        for (const ir::Value& v : m_analysis.program.values)
            if (m_analysis.hasRows(v.id) && !m_analysis.info(v.id).structureOnly)
                used.insert(m_analysis.rowSpace(v.id));
        return used;
    }

    void countLoop(const PlannedLoop& l, std::int64_t size, plan::RowCounts& rows,
                   std::map<std::pair<ir::SpaceId, ir::SpaceId>, double>& loops)
    {
        const plan::Loop& loop = *l.program.loop;
        const Counts& own = m_counts.of(loop, {RowKind::Batch, loop.destination, {}}, size);
        rows.batches[loop.destination] = static_cast<double>(own.perBatch.size());
        for (const RowClass& frontier : frontiers(loop)) {
            const std::pair types(loop.destination, frontier.table);
            rows.frontiers[types] += static_cast<double>(m_counts.of(loop, frontier, size).total);
            loops[types] += 1;
        }
    }

    // As a run compiles it, so that the same rows are read in place.
    void compile()
    {
        std::unordered_set<ir::ValueId> stored;
        const InPlace inPlace = [&](ir::ValueId v) { return readsInPlace(v, stored.contains(v)); };
        for (const plan::Stage& stage : m_plan.stages) {
            auto& loops = m_programs.emplace_back();
            for (const plan::Loop& loop : stage.loops)
                loops.push_back(compileLoop(m_analysis, loop, stored, inPlace, gpu()));
            for (const plan::Loop& loop : stage.loops)
                for (const plan::Access& w : loop.writes) stored.insert(w.value);
        }
        for (const auto& programs : m_programs) {
            auto& loops = m_loops.emplace_back();
            for (const LoopProgram& p : programs)
                loops.push_back({p, trafficOf(m_analysis, m_structure, p, m_choice), MemoryModel(allocated(p), gpu())});
        }
    }

    // On a CPU the batch's own rows of a table are used where they lie.
    [[nodiscard]] LoopProgram allocated(LoopProgram program) const
    {
        if (gpu()) return program;
        for (const Instruction& i : program.instructions)
            if (i.act == Act::Read && i.rows.kind == RowKind::Batch)
                program.registers[static_cast<std::size_t>(i.outputs.at(0))].bytesPerRow = 0;
        return program;
    }

    [[nodiscard]] bool gpu() const { return m_plan.device != "cpu"; }

    bool readsInPlace(ir::ValueId value, bool stored)
    {
        const ir::Value& v = m_analysis.program.value(value);
        if (gpu()) return m_choice.holds(value);
        if (m_analysis.rowDim(value) != 0 || v.dtype != base::DType::Float32) return false;
        if (stored) return true;
        if (v.origin == ir::Origin::Op) return false;
        const at::Tensor table = m_structure.value(value);
        return table.size(0) > 0 && table.select(0, 0).is_contiguous();
    }

    std::int64_t largestTable()
    {
        std::int64_t rows = 1;
        for (const plan::Stage& stage : m_plan.stages)
            for (const plan::Loop& loop : stage.loops) rows = std::max(rows, m_structure.size(loop.destination));
        return rows;
    }

    // Rows along the first dimension, made by whole batches if a stage makes them.
    std::set<ir::ValueId> tablesRead()
    {
        std::set<ir::ValueId> partly, read;
        for (const auto& loops : m_programs)
            for (const LoopProgram& p : loops) {
                for (const Written& w : p.writes)
                    if (w.rows.kind != RowKind::Batch) partly.insert(w.value);
                // Edge tables are kept in another order: those that stages make are not there as a whole.
                for (const Instruction& i : p.instructions)
                    if (i.act == Act::Read && i.rows.kind == RowKind::Owned && !m_analysis.available(i.value))
                        partly.insert(i.value);
            }
        for (const auto& loops : m_programs)
            for (const LoopProgram& p : loops)
                for (const Instruction& i : p.instructions)
                    if (i.act == Act::Read && m_analysis.rowDim(i.value) == 0 && !m_analysis.info(i.value).sparse &&
                        !partly.contains(i.value))
                        read.insert(i.value);
        return read;
    }

    // Halves of all destinations until every loop fits.
    std::int64_t batchSize(const PredictOptions& options)
    {
        if (options.batch) return *options.batch;
        std::int64_t size = largestTable();
        const double allowed = usableShare * budget(options.memory);
        while (size > 1 && mostMemory(size) > allowed) size = (size + 1) / 2;
        return size;
    }

    // What is there before any batch. On a GPU that is what other runs have left; weights come with the loops.
    double baseline()
    {
        if (!gpu()) return static_cast<double>(m_known.outside.before(m_programs, m_stop));
        for (const auto& loops : m_loops)
            for (const PlannedLoop& l : loops) learntAbout(l);
        return static_cast<double>(DeviceContext(m_plan.device).memory().current);
    }

    double mostMemory(std::int64_t size)
    {
        double most = 0;
        for (const auto& loops : m_loops)
            for (const PlannedLoop& l : loops)
                most = std::max(most, peak(l, rowsOf(l, [&](const RowClass& rows) {
                                               return m_counts.atMost(*l.program.loop, rows, size);
                                           })));
        return most;
    }

    using ClassRows = std::map<RowClass, Counts>;

    template <class CountsOf>
    static ClassRows rowsOf(const PlannedLoop& l, CountsOf&& countsOf)
    {
        ClassRows counts;
        for (const RowClass& rows : classesOf(l.program)) counts.emplace(rows, countsOf(rows));
        return counts;
    }

    // Of the batches in which some class has the most rows.
    double peak(const PlannedLoop& l, const ClassRows& counts)
    {
        std::set<std::size_t> batches;
        for (const auto& [rows, c] : counts)
            if (!c.perBatch.empty()) batches.insert(c.largest());
        const LoopMemory* const learnt = learntAbout(l);
        double most = 0;
        for (const std::size_t batch : batches) most = std::max(most, bytesIn(l, learnt, counts, batch));
        return most;
    }

    const LoopMemory* learntAbout(const PlannedLoop& l)
    {
        return m_known.memories.of(m_analysis, m_structure, m_plan, l.program, m_stop);
    }

    static double bytesIn(const PlannedLoop& l, const LoopMemory* learnt, const ClassRows& counts, std::size_t batch)
    {
        const auto rowsIn = [&](const RowClass& rows) {
            const auto it = counts.find(rows);
            return it == counts.end() ? 0.0 : static_cast<double>(it->second.perBatch[batch]);
        };
        if (learnt) return learnt->peak(rowsIn, batch == 0);
        double bytes = l.memory.peak(rowsIn) + static_cast<double>(l.traffic.numbersPerBatch);
        for (const auto& [rows, traffic] : l.traffic.rows) bytes += static_cast<double>(traffic.numbers) * rowsIn(rows);
        return bytes;
    }

    // Values without rows, evaluated once: from here on they are there.
    void stays(ir::ValueId value, std::int64_t bytes)
    {
        if (m_staying.insert(value).second) m_baseline += static_cast<double>(bytes);
    }

    // What a loop evaluates for all of its batches: on a GPU beforehand.
    void prepares(const PlannedLoop& l)
    {
        if (!gpu()) {
            for (const ir::ValueId v : m_known.outside.evaluatedBy(l.program)) stays(v, m_known.outside.bytes(v));
        } else if (const LoopMemory* const learnt = learntAbout(l)) {
            for (const auto& [value, bytes] : learnt->whole()) stays(value, bytes);
        } else {
            for (const ir::ValueId v : wholeOperands(l.program)) stays(v, wholeBytes(m_analysis, m_structure, v));
        }
    }

    // What stays on a GPU from this loop on, and is copied there.
    void loads(PredictedStage& result, const LoopProgram& program)
    {
        for (const ResidentPart& part : m_choice.parts(program)) {
            const bool made = part.kind == ResidentPart::Table && m_parts.contains({ResidentPart::Store, part.value});
            if (made || !m_parts.insert(part).second) continue;
            const std::int64_t bytes = m_choice.bytes(part, m_structure);
            m_baseline += static_cast<double>(countedOnGpu(bytes));
            const bool rows = part.value.valid() && !m_analysis.info(part.value).structureOnly;
            (rows ? result.bytes.h2d : result.bytes.structure) += ResidentChoice::uploaded(part, bytes);
        }
    }

    void drops(std::size_t stage)
    {
        std::erase_if(m_parts, [&](const ResidentPart& part) {
            const bool gone = !m_choice.usedAfter(part, stage, m_programs);
            if (gone) m_baseline -= static_cast<double>(countedOnGpu(m_choice.bytes(part, m_structure)));
            return gone;
        });
    }

    void reduces(const PlannedLoop& l)
    {
        for (const Reduced& r : l.program.reductions) {
            const ir::ValueId out = m_analysis.program.op(r.op).outputs.at(0);
            stays(out, gpu() ? countedOnGpu(wholeBytes(m_analysis, m_structure, out)) : m_known.outside.bytes(out));
        }
    }

    PredictedStage stage(std::size_t at, std::int64_t size)
    {
        const std::vector<PlannedLoop>& loops = m_loops[at];
        PredictedStage result;
        result.index = m_plan.stages[at].index;
        if (!gpu())
            for (const PlannedLoop& l : loops) prepares(l);
        for (const PlannedLoop& l : loops) {
            if (gpu()) prepares(l);
            loads(result, l.program);
            addLoop(result, l, size);
            if (gpu()) reduces(l);
        }
        if (!gpu())
            for (const PlannedLoop& l : loops) reduces(l);
        for (const auto& [value, bytes] : result.read) result.bytes.h2d += bytes;
        drops(at);
        return result;
    }

    void addLoop(PredictedStage& result, const PlannedLoop& l, std::int64_t size)
    {
        const plan::Loop& loop = *l.program.loop;
        const Counts own = m_counts.of(loop, {RowKind::Batch, loop.destination, {}}, size);
        result.batches += static_cast<std::int64_t>(own.perBatch.size());
        result.destinations += own.total;
        for (const RowClass& rows : frontiers(loop))
            if (l.program.frontiers.contains(rows.table)) result.frontierRows += m_counts.of(loop, rows, size).total;
        for (const auto& [rows, traffic] : l.traffic.rows) {
            const std::int64_t total = m_counts.of(loop, rows, size).total;
            result.bytes.d2h += traffic.written * total;
            result.bytes.structure += traffic.structure * total;
            for (const auto& [value, bytes] : traffic.read) result.read[value] += bytes * total;
        }
        result.bytes.structure += l.traffic.numbersPerBatch * static_cast<std::int64_t>(own.perBatch.size());
        const ClassRows counts = rowsOf(l, [&](const RowClass& rows) { return m_counts.of(loop, rows, size); });
        result.estimated |= learntAbout(l) == nullptr;
        result.peakMemory = std::max(result.peakMemory, static_cast<std::int64_t>(peak(l, counts) + m_baseline));
        for (std::size_t batch = 0; m_eachBatch && batch < own.perBatch.size(); ++batch)
            result.batchPeaks.push_back(
                static_cast<std::int64_t>(bytesIn(l, learntAbout(l), counts, batch) + m_baseline));
    }

    static std::set<RowClass> frontiers(const plan::Loop& loop)
    {
        std::set<RowClass> classes;
        for (const plan::FrontierSource& s : loop.frontier) classes.insert({RowKind::Frontier, s.type, {}});
        return classes;
    }

    const analysis::Analysis& m_analysis;
    Known& m_known;
    Structure& m_structure;
    ClassCounts& m_counts;
    const plan::Plan& m_plan;
    ResidentChoice m_choice;
    std::stop_token m_stop;
    StagePrograms m_programs;
    std::vector<std::vector<PlannedLoop>> m_loops;
    double m_baseline = 0;  // what is held outside of the batches of this stage
    std::set<ir::ValueId> m_staying;
    std::set<ResidentPart> m_parts;
    bool m_eachBatch = false;
};

}  // namespace

struct Predictor::Kept : Known {
    Kept(const Predictor& owner, std::stop_token stop)
        : Known(
              owner.m_analysis,
              [&owner](std::stop_token token) {
                  return std::make_unique<Structure>(owner.m_walk, owner.m_analysis, owner.m_inputs, owner.m_folder,
                                                     at::get_num_threads(), std::move(token));
              },
              owner.m_folder, std::move(stop))
    {}
};

Predictor::Predictor(const loader::Walk& walk, const analysis::Analysis& analysis, const base::TensorMap& inputs,
                     std::string folder)
    : m_walk(walk),
      m_analysis(analysis),
      m_inputs(inputs),
      m_folder(std::move(folder))
{
    installCpuAllocator();
}

Predictor::~Predictor() = default;

template <class Work>
auto Predictor::guarded(std::stop_token stop, Work&& work) -> base::Result<decltype(work(std::declval<Kept&>()))>
{
    const c10::InferenceMode inference;
    auto result = atTheDoor(
        [&] {
            const SpillScope spill(m_folder, spillThreshold);
            if (!m_kept) m_kept = std::make_unique<Kept>(*this, std::move(stop));
            return work(*m_kept);
        },
        [] { return base::fail(base::ErrorCode::Resources, "out of memory while the graph is looked at"); });
    if (!result) m_kept.reset();
    return result;
}

base::Status Predictor::checkGuards(std::stop_token stop)
{
    const base::Result<bool> checked = guarded(std::move(stop), [](Kept& kept) {
        kept.structure->checkGuards();
        return true;
    });
    return checked ? base::Status() : base::forward(checked);
}

base::Result<Prediction> Predictor::predict(const plan::Plan& plan, const PredictOptions& options, std::stop_token stop)
{
    return guarded(stop, [&](Kept& kept) { return Planned(m_analysis, kept, plan, stop).predict(options); });
}

namespace {

// As many as leave half of the memory to batches.
plan::Plan keep(const analysis::Analysis& analysis, Known& known, plan::Plan plan, const PredictOptions& options,
                std::stop_token stop)
{
    plan.resident.clear();
    plan.residentStructure = false;
    if (plan.device == "cpu") return plan;
    const plan::Plan bare = plan;
    Planned planned(analysis, known, bare, stop);
    const double most = planned.budget(options.memory) / 2;
    const auto fits = [&] { return Planned(analysis, known, plan, stop).keptBytes() <= most; };
    for (const auto& [worth, value] : planned.candidates(planned.predict(options))) {
        plan.resident.push_back(value);
        if (!fits()) plan.resident.pop_back();
    }
    plan.residentStructure = !plan.resident.empty();
    if (!fits()) plan.residentStructure = false;
    return plan;
}

}  // namespace

base::Result<plan::Plan> Predictor::keepOnDevice(plan::Plan plan, const PredictOptions& options, std::stop_token stop)
{
    return guarded(stop, [&](Kept& kept) { return keep(m_analysis, kept, std::move(plan), options, stop); });
}

base::Result<plan::RowCounts> Predictor::countRows(const plan::Plan& plan, const PredictOptions& options,
                                                   std::stop_token stop)
{
    return guarded(stop, [&](Kept& kept) { return Planned(m_analysis, kept, plan, stop).countRows(options); });
}

}  // namespace hopscope::executor
