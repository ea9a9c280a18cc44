#include "executor/forecast/outside.h"

#include <algorithm>

#include "executor/forecast/loop_memory.h"
#include "executor/memory.h"

namespace hopscope::forecast {

using ir::ValueId;

namespace {

constexpr std::int64_t smallGraph = 1 << 19;  // rows of all tables
constexpr std::size_t remembered = 64;        // prologues

}  // namespace

std::int64_t Outside::before(const std::vector<const executor::LoopProgram*>& programs, bool staysBeside,
                             std::stop_token stop)
{
    const std::int64_t there = staysBeside ? executor::cpuMemory().current : besides();
    return there + prologue(programs, std::move(stop)).held;
}

std::int64_t Outside::most(const std::vector<const executor::LoopProgram*>& programs, std::int64_t allowed,
                           std::stop_token stop)
{
    Prologue& found = prologue(programs, stop);
    if (!found.bounded) return besides() + found.peak;
    const std::int64_t bound = besides() + mostMade();
    if (bound <= allowed) return bound;
    if (const auto exact = made(programs, std::move(stop))) found = *exact;
    return besides() + found.peak;
}

// All tensors of the process but those that this structure holds.
std::int64_t Outside::besides() const { return executor::cpuMemory().current - m_structure.heldBytes(); }

Outside::Prologue& Outside::prologue(const std::vector<const executor::LoopProgram*>& programs, std::stop_token stop)
{
    if (m_always.empty()) m_always = executor::prologueValues(m_analysis, {});
    std::set<ValueId> values(m_always.begin(), m_always.end());
    for (const executor::LoopProgram* const program : programs) {
        values.insert(program->leaves.begin(), program->leaves.end());
        for (const auto& [value, rows] : program->owned) values.insert(value);
    }
    auto known = m_prologues.find(values);
    if (known == m_prologues.end()) {
        const std::optional<Prologue> exact = isSmall() ? made(programs, std::move(stop)) : std::nullopt;
        const Prologue found = exact ? *exact : bounded(values);
        if (m_prologues.size() >= remembered) m_prologues.erase(m_prologues.begin());
        known = m_prologues.emplace(std::move(values), found).first;
    }
    return known->second;
}

bool Outside::isSmall() const
{
    std::int64_t rows = 0;
    for (const ir::Value& v : m_analysis.program.values)
        if (v.origin == ir::Origin::Input && m_analysis.hasRows(v.id))
            rows += m_structure.size(m_analysis.rowSpace(v.id));
    return rows <= smallGraph;
}

Outside::Prologue Outside::bounded(const std::set<ValueId>& kept)
{
    std::set<ValueId> held = kept;
    for (const ValueId v : executor::definingValues(m_analysis))
        if (v.valid()) held.insert(v);
    std::int64_t bytes = 0;
    for (const ValueId v : held) bytes += anonymousBytes(v);
    return {.held = bytes, .peak = bytes, .bounded = true};
}

// All values that a prologue may compute, and as much again within operators.
std::int64_t Outside::mostMade()
{
    std::int64_t bytes = 0;
    for (const ir::Value& v : m_analysis.program.values)
        if (v.kind == ir::ValueKind::Tensor && m_analysis.available(v.id)) bytes += 2 * anonymousBytes(v.id);
    return bytes;
}

// Counts a value of the prologue that is not spilled.
std::int64_t Outside::anonymousBytes(ValueId value)
{
    if (m_analysis.program.value(value).origin != ir::Origin::Op) return 0;
    const std::int64_t size = executor::wholeBytes(m_analysis, value, m_structure.sizes());
    return size < executor::spillThreshold ? executor::countedBytes(size) : 0;
}

std::optional<Outside::Prologue> Outside::made(const std::vector<const executor::LoopProgram*>& programs,
                                               std::stop_token stop)
{
    executor::StagePrograms all(1);
    for (const executor::LoopProgram* const program : programs) all.front().push_back(*program);
    try {
        const executor::AllocationTrace trace;
        const std::unique_ptr<executor::Structure> structure = m_fresh(std::move(stop));
        executor::makePrologue(*structure, m_analysis, all, m_folder);
        return Prologue{.held = trace.held(), .peak = peakOf(trace.events())};
    } catch (const executor::Failure& failure) {
        if (failure.error.code == base::ErrorCode::Cancelled) throw;
        return std::nullopt;  // a run will report it
    }
}

// Whether a run evaluates the value once its stages have begun: not in the prologue, and not as a part of a row
// reduction.
bool Outside::evaluated(ValueId value) const
{
    const ir::Value& v = m_analysis.program.value(value);
    if (v.origin != ir::Origin::Op || v.kind != ir::ValueKind::Tensor) return false;
    if (m_analysis.available(value) || m_analysis.hasRows(value)) return false;
    return m_analysis.info(v.producer).kind != analysis::OpKind::Reduce;
}

std::set<ValueId> Outside::evaluatedBy(const executor::LoopProgram& program) const
{
    std::set<ValueId> found;
    std::vector<ValueId> open = executor::wholeOperands(program);
    while (!open.empty()) {
        const ValueId value = open.back();
        open.pop_back();
        if (!evaluated(value) || !found.insert(value).second) continue;
        const ir::Op& op = m_analysis.program.op(m_analysis.program.value(value).producer);
        ir::forEachOperand(op, [&](ir::Slot slot, ValueId v) {
            if (m_analysis.info(op.id).use(slot).use != analysis::Use::Shape) open.push_back(v);
        });
    }
    return found;
}

std::int64_t Outside::bytes(ValueId value)
{
    const ir::Value& v = m_analysis.program.value(value);
    if (m_analysis.info(v.producer).view) return 0;
    const bool fill = executor::fillNumber(m_analysis.program, value).has_value();  // one number, expanded
    return executor::countedBytes(fill ? static_cast<std::int64_t>(base::itemSize(v.dtype))
                                       : executor::wholeBytes(m_analysis, value, m_structure.sizes()));
}

}  // namespace hopscope::forecast
