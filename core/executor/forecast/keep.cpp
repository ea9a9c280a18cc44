#include <algorithm>
#include <bit>
#include <iterator>

#include "base/proc.h"
#include "executor/device/accelerator.h"
#include "executor/forecast/planned.h"

namespace hopscope::forecast {

using ir::RowKind;

namespace {

using Values = std::set<ir::ValueId>;

template <class Visit>
void forEachLoop(const executor::StagePrograms& programs, Visit&& visit)
{
    for (const auto& loops : programs)
        for (const executor::LoopProgram& program : loops) visit(program);
}

// Values that are made in pieces or kept in a different order: they never exist as a whole.
Values partlyThere(const analysis::Analysis& analysis, const executor::StagePrograms& programs)
{
    Values values;
    forEachLoop(programs, [&](const executor::LoopProgram& program) {
        for (const executor::Written& w : program.writes)
            if (w.rows.kind != RowKind::Batch) values.insert(w.value);
        for (const executor::Instruction& i : program.instructions)
            if (i.act == executor::Act::Read && i.rows.kind == RowKind::Owned && !analysis.available(i.value))
                values.insert(i.value);
    });
    return values;
}

// Tables with rows along the first dimension, made by whole batches if a stage makes them.
Values tablesRead(const analysis::Analysis& analysis, const executor::StagePrograms& programs)
{
    const Values partly = partlyThere(analysis, programs);
    Values read;
    forEachLoop(programs, [&](const executor::LoopProgram& program) {
        for (const executor::Instruction& i : program.instructions)
            if (i.act == executor::Act::Read && analysis.rowDim(i.value) == 0 && !analysis.info(i.value).sparse &&
                !partly.contains(i.value))
                read.insert(i.value);
    });
    return read;
}

struct Candidate {
    double worth = 0;  // bytes copied or numbered less for each byte that it takes to keep it
    ir::ValueId value;
};

// The tables that a stage gathers rows of: on the device these need no numbers from the host.
Values gathered(const std::vector<executor::LoopProgram>& stage)
{
    Values values;
    for (const executor::LoopProgram& program : stage)
        for (const executor::Instruction& i : program.instructions)
            if (i.act == executor::Act::Read && i.rows.kind == RowKind::Frontier) values.insert(i.value);
    return values;
}

// Bytes that the stages copy of a table, and number to gather its rows.
double spentOn(ir::ValueId value, const executor::StagePrograms& programs, const Prediction& copied)
{
    double bytes = 0;
    for (std::size_t s = 0; s < copied.stages.size(); ++s) {
        const PredictedStage& stage = copied.stages[s];
        const auto read = stage.read.find(value);
        if (read != stage.read.end()) bytes += static_cast<double>(read->second);
        if (gathered(programs[s]).contains(value)) bytes += static_cast<double>(stage.bytes.structure);
    }
    return bytes;
}

// The best first; those that save nothing are left out. `copied`: the copies of the stages when nothing is kept.
std::vector<Candidate> candidates(const analysis::Analysis& analysis, executor::Structure& structure,
                                  const executor::StagePrograms& programs, const Prediction& copied)
{
    std::vector<Candidate> found;
    for (const ir::ValueId v : tablesRead(analysis, programs)) {
        const auto size = static_cast<double>(executor::wholeBytes(analysis, v, structure.sizes()));
        double saved = spentOn(v, programs, copied);
        const bool stored = !analysis.available(v);
        if (analysis.info(v).structureOnly) saved = 2 * size;  // counted as structure, read by several stages
        if (size > 0 && (stored || saved > size)) found.push_back({(stored ? saved + size : saved) / size, v});
    }
    std::ranges::sort(found, [](const Candidate& a, const Candidate& b) {
        return a.worth != b.worth ? a.worth > b.worth : a.value < b.value;
    });
    return found;
}

constexpr int mostRefused = 2;  // tables that were not worth dividing: the others have less worth

class GpuTables {
public:
    GpuTables(const analysis::Analysis& analysis, Known& known, const PredictOptions& options, std::stop_token stop)
        : m_analysis(analysis),
          m_known(known),
          m_options(options),
          m_stop(std::move(stop))
    {}

    // Keeps as many tables as leave enough memory to batches. The adjacencies, which every stage traverses, come first if
    // they leave room for any table.
    plan::Plan keep(const plan::Plan& bare)
    {
        Planned planned(m_analysis, m_known, bare, m_options, m_stop);
        const Prediction copied = planned.predict(m_options);
        const auto best = candidates(m_analysis, *m_known.structure, planned.programs(), copied);
        plan::Plan plan = bare;
        for (const bool structure : {true, false}) {
            plan.residentStructure = structure;
            keepWhole(plan, best);
            if (!plan.resident.empty()) break;
        }
        return divide(plan, best);
    }

private:
    bool fits(const plan::Plan& plan, Peaks peaks)
    {
        return Planned(m_analysis, m_known, plan, m_options, m_stop).leavesEnough(m_options, peaks);
    }

    void keepWhole(plan::Plan& plan, const std::vector<Candidate>& best)
    {
        std::ranges::transform(best, std::back_inserter(plan.resident), &Candidate::value);
        if (!fits(plan, Peaks::No)) {  // in most cases all do
            plan.resident.clear();
            for (const Candidate& c : best) {
                plan.resident.push_back(c.value);
                if (!fits(plan, Peaks::No)) plan.resident.pop_back();
            }
        }
        while (!plan.resident.empty() && !fits(plan, Peaks::Yes)) plan.resident.pop_back();
    }

    // Gives the rest of the memory to rows of the other tables, as far as that saves time.
    plan::Plan divide(const plan::Plan& whole, const std::vector<Candidate>& best)
    {
        if (isSteady(whole, m_options) || !executor::accelerator().readsHostRows()) return whole;
        plan::Plan plan = whole;
        int refused = 0;
        for (const Candidate& c : best) {
            if (refused == mostRefused) break;
            if (std::ranges::find(whole.resident, c.value) != whole.resident.end() || !mayDivide(plan, c.value))
                continue;
            plan::Plan divided = plan;
            divided.residentStructure = true;
            divided.cached.push_back({c.value, 0});
            if (!gathersOnly(divided, c.value) || !fits(divided, Peaks::Yes)) continue;
            largestShare(divided);
            if (linkBytes(divided) < linkBytes(plan)) plan = std::move(divided);
            else ++refused;
        }
        return plan;
    }

    // Inputs and stores whose types have kernels, if all divided tables together leave memory to the host.
    bool mayDivide(const plan::Plan& plan, ir::ValueId value)
    {
        const base::DType type = m_analysis.program.value(value).dtype;
        const bool kernel =
            type == base::DType::Float32 || type == base::DType::Float16 || type == base::DType::BFloat16;
        if (!kernel || !executor::canDivide(m_analysis, value, m_options.store, false)) return false;
        std::uint64_t pinned = pinnedBytes(value);
        for (const plan::CachedTable& c : plan.cached) pinned += pinnedBytes(c.value);
        return pinned <= static_cast<std::uint64_t>(base::availableMemory()) / 2;
    }

    // LibTorch pins powers of two.
    std::uint64_t pinnedBytes(ir::ValueId value)
    {
        return std::bit_ceil(
            static_cast<std::uint64_t>(executor::wholeBytes(m_analysis, value, m_known.structure->sizes())));
    }

    // Whether batches have memory, and kernels gather all rows of the table that are gathered, along columns of adjacencies.
    bool gathersOnly(const plan::Plan& plan, ir::ValueId value)
    {
        const executor::ResidentChoice choice(m_analysis, plan, m_known.structure->same(), true);
        Planned planned(m_analysis, m_known, plan, m_options, m_stop);
        if (!planned.leavesEnough(m_options, Peaks::No)) return false;
        bool gathers = false, others = false;
        forEachLoop(planned.programs(), [&](const executor::LoopProgram& program) {
            for (const executor::Instruction& i : program.instructions)
                others |= i.act == executor::Act::Read && i.rows.kind == RowKind::Frontier && i.value == value;
            const executor::Gathers how = choice.gathers(program, value);
            gathers |= how == executor::Gathers::AlongColumns;
            others |= how == executor::Gathers::Otherwise;
        });
        return gathers && !others;
    }

    // Of the last divided table.
    void largestShare(plan::Plan& plan)
    {
        constexpr int steps = 64;
        double& share = plan.cached.back().share;
        int least = 0, most = steps;  // the largest that fits is among these
        while (least < most) {
            const int middle = (least + most + 1) / 2;
            share = static_cast<double>(middle) / steps;
            if (fits(plan, Peaks::Yes)) least = middle;
            else most = middle - 1;
        }
        share = static_cast<double>(least) / steps;
    }

    // The bytes that stages move to the device; reads by kernels count as the copies that take the same time.
    double linkBytes(const plan::Plan& plan)
    {
        double bytes = 0;
        for (const PredictedStage& s :
             Planned(m_analysis, m_known, plan, m_options, m_stop).predict(m_options, Peaks::No).stages)
            bytes +=
                static_cast<double>(s.bytes.h2d + s.bytes.structure) + static_cast<double>(s.hostReads) / hostReadRate;
        return bytes;
    }

    const analysis::Analysis& m_analysis;
    Known& m_known;
    const PredictOptions& m_options;
    std::stop_token m_stop;
};

}  // namespace

plan::Plan keepOnGpu(const analysis::Analysis& analysis, Known& known, plan::Plan plan, const PredictOptions& options,
                     std::stop_token stop)
{
    plan.resident.clear();
    plan.cached.clear();
    plan.residentStructure = false;
    if (plan.device == "cpu") return plan;
    return GpuTables(analysis, known, options, std::move(stop)).keep(plan);
}

}  // namespace hopscope::forecast
