#include "executor/forecast/compiled_loops.h"

#include <algorithm>

#include "executor/forecast/holdings.h"

namespace hopscope::forecast {

namespace {

constexpr std::size_t remembered = 256;  // loops

bool sameTiling(const std::optional<executor::Tiling>& one, const std::optional<executor::Tiling>& other)
{
    if (!one || !other) return one.has_value() == other.has_value();
    return one->rows == other->rows && one->workers == other->workers;
}

}  // namespace

void CompiledLoops::begin(const PredictOptions& options)
{
    const bool same = m_byBatch == options.batch.has_value() && m_fuse == options.fuse && m_store == options.store;
    if (!same) m_known.clear();
    m_byBatch = options.batch.has_value();
    m_fuse = options.fuse;
    m_store = options.store;
}

std::shared_ptr<CompiledLoop> CompiledLoops::onCpu(const plan::Loop& loop, const executor::StoredValues& stored,
                                                   const executor::LoopCompiler& compiler,
                                                   const executor::ResidentChoice& choice, const Outside& outside)
{
    Known& all = known(loop, stored, compiler);
    const std::optional<executor::Tiling> tiling = all.tiles ? compiler.tiling(*all.tiles) : std::nullopt;
    const auto same = [&](const auto& compiled) { return sameTiling(compiled->program.tiling, tiling); };
    if (const auto it = std::ranges::find_if(all.compiled, same); it != all.compiled.end()) return *it;
    executor::LoopProgram program = tiling ? *all.tiles : compiler.inBatches(*all.loop, stored);
    program.tiling = tiling;
    executor::LoopProgram allocated = withoutOwnRows(program);
    std::shared_ptr<CompiledLoop> fresh = made(std::move(program), allocated, false, choice);
    fresh->loop = all.loop;
    fresh->evaluated = outside.evaluatedBy(fresh->program);
    all.compiled.push_back(fresh);
    return fresh;
}

std::shared_ptr<CompiledLoop> CompiledLoops::onGpu(const executor::LoopProgram& program,
                                                   const executor::ResidentChoice& choice)
{
    return made(program, program, true, choice);
}

void CompiledLoops::timedOn(const plan::Machine& machine)
{
    if (m_machine == machine) return;
    m_machine = machine;
    for (const Known& known : m_known)
        for (const auto& compiled : known.compiled) compiled->times.clear();
}

std::vector<ir::ValueId> CompiledLoops::storedOf(const plan::Loop& loop, const executor::StoredValues& stored) const
{
    std::vector<ir::ValueId> found;
    const auto note = [&](ir::ValueId v) {
        if (stored.contains(v)) found.push_back(v);
    };
    for (const plan::Step& step : loop.steps) std::ranges::for_each(m_analysis.program.op(step.op).outputs, note);
    for (const plan::Access& read : loop.reads) note(read.value);
    std::ranges::sort(found);
    return found;
}

CompiledLoops::Known& CompiledLoops::known(const plan::Loop& loop, const executor::StoredValues& stored,
                                           const executor::LoopCompiler& compiler)
{
    std::vector<ir::ValueId> here = storedOf(loop, stored);
    const auto same = [&](const Known& known) { return *known.loop == loop && known.stored == here; };
    if (const auto it = std::ranges::find_if(m_known, same); it != m_known.end()) {
        m_known.splice(m_known.begin(), m_known, it);
        return m_known.front();
    }
    auto own = std::make_shared<const plan::Loop>(loop);
    std::optional<executor::LoopProgram> tiles = compiler.forTiles(*own, stored);
    m_known.push_front({.loop = std::move(own), .stored = std::move(here), .tiles = std::move(tiles), .compiled = {}});
    if (m_known.size() > remembered) m_known.pop_back();
    return m_known.front();
}

std::shared_ptr<CompiledLoop> CompiledLoops::made(executor::LoopProgram program, const executor::LoopProgram& allocated,
                                                  bool gpu, const executor::ResidentChoice& choice)
{
    Traffic traffic = trafficOf(m_analysis, m_structure, program, choice);
    executor::MemoryModel memory(allocated, gpu);
    return std::make_shared<CompiledLoop>(CompiledLoop{.loop = nullptr,
                                                       .program = std::move(program),
                                                       .traffic = std::move(traffic),
                                                       .memory = std::move(memory),
                                                       .evaluated = {},
                                                       .times = {}});
}

// On a CPU the batch's own rows of a table are used where they lie.
executor::LoopProgram CompiledLoops::withoutOwnRows(executor::LoopProgram program) const
{
    for (const executor::Instruction& i : program.instructions)
        if (readsWhereItLies(m_analysis, i, program.store))
            program.registers[static_cast<std::size_t>(i.outputs.at(0))].bytesPerRow = 0;
    return program;
}

}  // namespace hopscope::forecast
