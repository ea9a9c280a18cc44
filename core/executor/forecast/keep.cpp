#include <algorithm>
#include <iterator>

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

}  // namespace

// Keeps as many tables as leave enough memory to batches. The adjacencies, which every stage traverses, come first if they
// leave room for any table.
plan::Plan keepOnGpu(const analysis::Analysis& analysis, Known& known, plan::Plan plan, const PredictOptions& options,
                     std::stop_token stop)
{
    plan.resident.clear();
    plan.residentStructure = false;
    if (plan.device == "cpu") return plan;
    const plan::Plan bare = plan;
    Planned planned(analysis, known, bare, stop);
    const Prediction copied = planned.predict(options);
    const auto fits = [&](Peaks peaks) { return Planned(analysis, known, plan, stop).leavesEnough(options, peaks); };
    const std::vector<Candidate> best = candidates(analysis, *known.structure, planned.programs(), copied);
    for (const bool structure : {true, false}) {
        plan.residentStructure = structure;
        std::ranges::transform(best, std::back_inserter(plan.resident), &Candidate::value);
        const bool all = fits(Peaks::No);  // in most cases, and known at once
        if (!all) plan.resident.clear();
        for (std::size_t i = 0; !all && i < best.size(); ++i) {
            plan.resident.push_back(best[i].value);
            if (!fits(Peaks::No)) plan.resident.pop_back();
        }
        while (!plan.resident.empty() && !fits(Peaks::Yes)) plan.resident.pop_back();
        if (!plan.resident.empty()) return plan;
    }
    return plan;
}

}  // namespace hopscope::forecast
