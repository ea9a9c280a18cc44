#include "executor/forecast/holdings.h"

#include <algorithm>

#include "analysis/stored.h"
#include "executor/program/overwrite.h"
#include "operators/operators.h"

namespace hopscope::forecast {

using executor::Act;
using executor::Instruction;
using executor::LoopProgram;
using executor::Operand;
using executor::Register;

namespace {

class Ledger {
public:
    Ledger(const analysis::Analysis& analysis, const LoopProgram& program, bool gpu, const executor::CountOf& rows)
        : m_analysis(analysis),
          m_program(program),
          m_gpu(gpu),
          m_rows(rows),
          m_holding(program.registers.size()),
          m_fresh(program.registers.size(), false)
    {}

    LoopHoldings account()
    {
        for (std::size_t at = 0; at < m_program.instructions.size(); ++at) enter(at, m_program.instructions[at]);
        keepWhatIsSeen();
        addUp();
        return std::move(m_result);
    }

private:
    static std::size_t index(Register r) { return static_cast<std::size_t>(r); }

    void enter(std::size_t at, const Instruction& i)
    {
        m_result.steps.push_back({.kind = kindOf(i), .op = i.op, .fused = i.fused});
        const std::optional<std::size_t> over = overwritten(i);
        if (over) m_result.held[*over].to = at;
        for (const Register r : i.outputs) make(at, i, r, over);
        for (const Register r : i.dead)
            if (m_holding[index(r)] && m_holding[index(r)] != over) m_result.held[*m_holding[index(r)]].to = at + 1;
    }

    static plan::BatchStep kindOf(const Instruction& i)
    {
        if (i.act == Act::Positions) return plan::BatchStep::Numbers;
        const bool reads = i.act == Act::Read || i.act == Act::Pick || i.act == Act::Narrow;
        return reads ? plan::BatchStep::Rows : plan::BatchStep::Operator;
    }

    void make(std::size_t at, const Instruction& i, Register r, std::optional<std::size_t> over)
    {
        const executor::RegisterInfo& info = m_program.registers[index(r)];
        Holding holding{.value = info.value, .rows = info.rows, .from = at, .to = m_program.instructions.size()};
        holding.over = over;
        holding.viewOf = viewed(i);
        holding.inPlace = i.inOrder || (!m_gpu && readsWhereItLies(m_analysis, i, m_program.store));
        if (!holding.viewOf && !holding.inPlace)
            holding.bytes = static_cast<std::int64_t>(info.bytesPerRow * m_rows(info.rows));
        m_holding[index(r)] = m_result.held.size();
        m_fresh[index(r)] = i.act == Act::Segment || i.act == Act::Strips || i.act == Act::RowDots ||
                            (i.act == Act::Call && !m_analysis.info(i.op).view);
        m_result.held.push_back(holding);
    }

    bool sharesMemory(const Instruction& i) const
    {
        return i.act == Act::Call && operators::isView(m_analysis.program.op(i.op).name);
    }

    // The holding whose memory the results are parts of.
    std::optional<std::size_t> viewed(const Instruction& i) const
    {
        Register from = i.act == Act::Narrow ? i.input : -1;
        if (sharesMemory(i) && !i.operands.empty() && i.operands[0].kind == Operand::InRegister)
            from = i.operands[0].from;
        return from < 0 ? std::nullopt : m_holding[index(from)];
    }

    // The executor checks the same at run time, on tensors.
    std::optional<std::size_t> overwritten(const Instruction& i) const
    {
        if (i.act != Act::Call || i.operands.empty() || i.operands[0].kind != Operand::InRegister) return std::nullopt;
        const Register from = i.operands[0].from;
        const ir::Op& op = m_analysis.program.op(i.op);
        const bool alone = executor::isPlainPair(op, i) ? !m_gpu : op.args.size() == 1;
        if (!alone || i.outputs.size() != 1 || !operators::of(op.name).traits.overwrites) return std::nullopt;
        const bool dies = std::ranges::find(i.dead, from) != i.dead.end();
        const bool twice = std::ranges::count(i.operands, from, &Operand::from) > 1;
        if (!dies || twice || !m_fresh[index(from)] || seenByView(from) || !alike(from, i.outputs[0]))
            return std::nullopt;
        return m_holding[index(from)];
    }

    bool seenByView(Register r) const
    {
        return std::ranges::any_of(m_result.held, [&](const Holding& other) {
            return other.viewOf == m_holding[index(r)] && other.to == m_program.instructions.size();
        });
    }

    bool alike(Register a, Register b) const
    {
        const executor::RegisterInfo &from = m_program.registers[index(a)], &to = m_program.registers[index(b)];
        const base::DType type = m_analysis.program.value(from.value).dtype;
        return base::isFloating(type) && type == m_analysis.program.value(to.value).dtype && from.rows == to.rows &&
               from.bytesPerRow == to.bytesPerRow;
    }

    // Memory stays allocated while something refers to it.
    void keepWhatIsSeen()
    {
        for (std::size_t h = m_result.held.size(); h-- > 0;)
            if (const auto base = m_result.held[h].viewOf)
                m_result.held[*base].to = std::max(m_result.held[*base].to, m_result.held[h].to);
    }

    void addUp()
    {
        m_result.bytes.assign(m_result.steps.size(), 0);
        for (const Holding& h : m_result.held)
            for (std::size_t at = h.from; at < h.to; ++at) m_result.bytes[at] += h.bytes;
        const auto most = std::ranges::max_element(m_result.bytes);
        m_result.peakStep = static_cast<std::size_t>(most - m_result.bytes.begin());
    }

    const analysis::Analysis& m_analysis;
    const LoopProgram& m_program;
    bool m_gpu;
    const executor::CountOf& m_rows;
    std::vector<std::optional<std::size_t>> m_holding;  // of each register
    std::vector<bool> m_fresh;  // by register: the result of an operator, which may be overwritten
    LoopHoldings m_result;
};

}  // namespace

bool readsWhereItLies(const analysis::Analysis& analysis, const Instruction& instruction, base::StoreType store)
{
    return instruction.act == Act::Read && instruction.rows.kind == ir::RowKind::Batch &&
           !analysis::isNarrowed(analysis, instruction.value, store);
}

LoopHoldings holdingsOf(const analysis::Analysis& analysis, const LoopProgram& program, bool gpu,
                        const executor::CountOf& rows)
{
    return Ledger(analysis, program, gpu, rows).account();
}

}  // namespace hopscope::forecast
