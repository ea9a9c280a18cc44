#include "executor/predict.h"

#include <algorithm>
#include <unordered_set>

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include "executor/batching.h"
#include "executor/class_counts.h"
#include "executor/device_context.h"
#include "executor/door.h"
#include "executor/traffic.h"

namespace hopscope::executor {

using ir::RowClass;
using ir::RowKind;

namespace {

constexpr double usableShare = 0.56;       // of a budget, as the batch sizer uses it with what it has learned
constexpr std::int64_t spilled = 1 << 20;  // values of the prologue that are larger are mapped

struct PlannedLoop {
    LoopProgram program;
    Traffic traffic;
    MemoryModel memory;
};

}  // namespace

struct Predictor::Kept {
    Kept(const Predictor& owner, std::stop_token stop)
        : structure(owner.m_walk, owner.m_analysis, owner.m_inputs, owner.m_folder, at::get_num_threads(),
                    std::move(stop)),
          counts(owner.m_analysis, structure)
    {}

    Structure structure;
    ClassCounts counts;
};

namespace {

// One call: the loops of a plan as programs, and what follows from them.
class Planned {
public:
    Planned(const analysis::Analysis& analysis, Structure& structure, ClassCounts& counts, const plan::Plan& plan)
        : m_analysis(analysis),
          m_structure(structure),
          m_counts(counts),
          m_plan(plan)
    {
        compile();
    }

    Prediction predict(const PredictOptions& options)
    {
        Prediction prediction;
        prediction.batch = batchSize(options);
        m_baseline = baseline();
        for (std::size_t s = 0; s < m_plan.stages.size(); ++s)
            prediction.stages.push_back(stage(m_plan.stages[s].index, m_loops[s], prediction.batch));
        return prediction;
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
            auto& loops = m_loops.emplace_back();
            for (const plan::Loop& loop : stage.loops) {
                LoopProgram program = compileLoop(m_analysis, loop, stored, inPlace);
                Traffic traffic = trafficOf(m_analysis, m_structure, program);
                MemoryModel memory(allocated(program));
                loops.push_back({std::move(program), std::move(traffic), std::move(memory)});
            }
            for (const plan::Loop& loop : stage.loops)
                for (const plan::Access& w : loop.writes) stored.insert(w.value);
        }
    }

    // On a CPU the batch's own rows of a table are used where they lie.
    [[nodiscard]] LoopProgram allocated(LoopProgram program) const
    {
        if (cuda()) return program;
        for (const Instruction& i : program.instructions)
            if (i.act == Act::Read && i.rows.kind == RowKind::Batch)
                program.registers[static_cast<std::size_t>(i.outputs.at(0))].bytesPerRow = 0;
        return program;
    }

    [[nodiscard]] bool cuda() const { return m_plan.device.starts_with("cuda"); }

    bool readsInPlace(ir::ValueId value, bool stored)
    {
        const ir::Value& v = m_analysis.program.value(value);
        if (cuda() || m_analysis.rowDim(value) != 0 || v.dtype != base::DType::Float32) return false;
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

    // Halves of all destinations until every loop fits.
    std::int64_t batchSize(const PredictOptions& options)
    {
        if (options.batch) return *options.batch;
        std::int64_t size = largestTable();
        const double allowed = usableShare * budget(options.memory);
        while (size > 1 && mostMemory(size) > allowed) size = (size + 1) / 2;
        return size;
    }

    // What a run gives its batches.
    double budget(std::optional<std::int64_t> memory)
    {
        const DeviceContext device(m_plan.device);
        if (cuda()) return memory ? static_cast<double>(*memory) : static_cast<double>(device.freeMemory()) / 1.5;
        const double bytes = memory ? static_cast<double>(tensorLimit(*memory) - cpuMemory().current)
                                    : static_cast<double>(device.freeMemory()) / 4;
        return std::min(bytes, cpuBatchBytes);
    }

    // What the prologue makes and keeps: what loops read, and the columns that blocks are cut from.
    std::set<ir::ValueId> kept() const
    {
        std::set<ir::ValueId> values;
        for (const auto& loops : m_loops)
            for (const PlannedLoop& l : loops) values.insert(l.program.leaves.begin(), l.program.leaves.end());
        for (const analysis::Space& s : m_analysis.tables.spaces) values.insert({s.selector, s.index});
        for (const analysis::Key& k : m_analysis.tables.keys) values.insert(k.column);
        values.erase(ir::ValueId());
        return values;
    }

    // What is there before any batch: on a CPU all tensors of the process and what the prologue makes; weights on a GPU.
    double baseline()
    {
        double bytes = cuda() ? 0 : static_cast<double>(cpuMemory().current);
        for (const ir::ValueId v : kept()) {
            const std::int64_t size = wholeBytes(v);
            const bool made = m_analysis.program.value(v).origin == ir::Origin::Op && size < spilled;
            if (cuda() ? !m_analysis.hasRows(v) : made) bytes += static_cast<double>(size);
        }
        return bytes;
    }

    std::int64_t wholeBytes(ir::ValueId value)
    {
        auto bytes = static_cast<std::int64_t>(base::itemSize(m_analysis.program.value(value).dtype));
        for (const std::int64_t n : shapeOf(m_analysis, value, m_structure.sizes())) bytes *= n;
        return bytes;
    }

    double mostMemory(std::int64_t size)
    {
        double most = 0;
        for (const auto& loops : m_loops)
            for (const PlannedLoop& l : loops)
                most = std::max(
                    most, peak(l, [&](const RowClass& rows) { return m_counts.atMost(*l.program.loop, rows, size); }));
        return most;
    }

    // The classes whose rows a batch holds.
    static std::vector<RowClass> classesOf(const LoopProgram& program)
    {
        std::set<RowClass> classes(program.classes.begin(), program.classes.end());
        classes.insert({RowKind::Batch, program.loop->destination, {}});
        for (const plan::FrontierSource& s : program.loop->frontier) classes.insert({RowKind::Frontier, s.type, {}});
        for (const RegisterInfo& r : program.registers)
            if (r.rows.kind != RowKind::All) classes.insert(r.rows);
        return {classes.begin(), classes.end()};
    }

    // Of the batches in which some class has the most rows.
    template <class CountsOf>
    static double peak(const PlannedLoop& l, CountsOf&& countsOf)
    {
        std::map<RowClass, Counts> counts;
        std::set<std::size_t> batches;
        for (const RowClass& rows : classesOf(l.program)) {
            const Counts& c = counts.emplace(rows, countsOf(rows)).first->second;
            if (!c.perBatch.empty()) batches.insert(c.largest());
        }
        double most = 0;
        for (const std::size_t batch : batches) most = std::max(most, bytesIn(l, counts, batch));
        return most;
    }

    static double bytesIn(const PlannedLoop& l, const std::map<RowClass, Counts>& counts, std::size_t batch)
    {
        const auto rowsOf = [&](const RowClass& rows) {
            const auto it = counts.find(rows);
            return it == counts.end() ? 0.0 : static_cast<double>(it->second.perBatch[batch]);
        };
        double bytes = l.memory.peak(rowsOf) + static_cast<double>(l.traffic.numbersPerBatch);
        for (const auto& [rows, traffic] : l.traffic.rows) bytes += static_cast<double>(traffic.numbers) * rowsOf(rows);
        return bytes;
    }

    PredictedStage stage(int index, const std::vector<PlannedLoop>& loops, std::int64_t size)
    {
        PredictedStage result;
        result.index = index;
        for (const PlannedLoop& l : loops) addLoop(result, l, size);
        for (const auto& [value, bytes] : result.read) result.bytes.h2d += bytes;
        return result;
    }

    void addLoop(PredictedStage& result, const PlannedLoop& l, std::int64_t size)
    {
        const plan::Loop& loop = *l.program.loop;
        const Counts own = m_counts.of(loop, {RowKind::Batch, loop.destination, {}}, size);
        result.batches += static_cast<std::int64_t>(own.perBatch.size());
        result.destinations += own.total;
        for (const RowClass& rows : frontiers(loop)) result.frontierRows += m_counts.of(loop, rows, size).total;
        for (const auto& [rows, traffic] : l.traffic.rows) {
            const std::int64_t total = m_counts.of(loop, rows, size).total;
            result.bytes.d2h += traffic.written * total;
            result.bytes.structure += traffic.structure * total;
            for (const auto& [value, bytes] : traffic.read) result.read[value] += bytes * total;
        }
        result.bytes.structure += l.traffic.numbersPerBatch * static_cast<std::int64_t>(own.perBatch.size());
        const double memory = peak(l, [&](const RowClass& rows) { return m_counts.of(loop, rows, size); });
        result.peakMemory = std::max(result.peakMemory, static_cast<std::int64_t>(memory + m_baseline));
    }

    static std::set<RowClass> frontiers(const plan::Loop& loop)
    {
        std::set<RowClass> classes;
        for (const plan::FrontierSource& s : loop.frontier) classes.insert({RowKind::Frontier, s.type, {}});
        return classes;
    }

    const analysis::Analysis& m_analysis;
    Structure& m_structure;
    ClassCounts& m_counts;
    const plan::Plan& m_plan;
    std::vector<std::vector<PlannedLoop>> m_loops;
    double m_baseline = 0;
};

}  // namespace

Predictor::Predictor(const loader::Walk& walk, const analysis::Analysis& analysis, const base::TensorMap& inputs,
                     std::string folder)
    : m_walk(walk),
      m_analysis(analysis),
      m_inputs(inputs),
      m_folder(std::move(folder))
{}

Predictor::~Predictor() = default;

template <class Work>
auto Predictor::guarded(std::stop_token stop, Work&& work) -> base::Result<decltype(work(std::declval<Kept&>()))>
{
    const c10::InferenceMode inference;
    auto result = atTheDoor(
        [&] {
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
        kept.structure.checkGuards();
        return true;
    });
    return checked ? base::Status() : base::forward(checked);
}

base::Result<Prediction> Predictor::predict(const plan::Plan& plan, const PredictOptions& options, std::stop_token stop)
{
    return guarded(std::move(stop),
                   [&](Kept& kept) { return Planned(m_analysis, kept.structure, kept.counts, plan).predict(options); });
}

base::Result<plan::RowCounts> Predictor::countRows(const plan::Plan& plan, const PredictOptions& options,
                                                   std::stop_token stop)
{
    return guarded(std::move(stop), [&](Kept& kept) {
        return Planned(m_analysis, kept.structure, kept.counts, plan).countRows(options);
    });
}

}  // namespace hopscope::executor
