#include <algorithm>

#include "executor/program/loop_program.h"

namespace hopscope::executor {

using ir::RowClass;
using ir::RowKind;

std::vector<ir::ValueId> wholeOperands(const LoopProgram& program)
{
    std::vector<ir::ValueId> values;
    const auto include = [&](const std::vector<Operand>& operands) {
        for (const Operand& o : operands)
            if (o.kind == Operand::Whole && std::ranges::find(values, o.value) == values.end())
                values.push_back(o.value);
    };
    for (const Instruction& i : program.instructions) include(i.operands);
    for (const Reduced& r : program.reductions) include(r.operands);
    return values;
}

void markWide(LoopProgram& program)
{
    std::set<Register> wide;
    const auto include = [&](const std::vector<Operand>& operands) {
        for (const Operand& o : operands)
            if (o.kind == Operand::Index && !o.narrow) wide.insert(o.from);
    };
    for (const Instruction& i : program.instructions) include(i.operands);
    for (const Reduced& r : program.reductions) include(r.operands);
    for (Instruction& i : program.instructions)
        if (i.act == Act::Positions) i.wide = wide.contains(i.outputs[0]);
}

void markDead(LoopProgram& program)
{
    std::vector<int> last(program.registers.size(), -1);
    const auto touch = [&](Register r, int at) {
        if (r >= 0) last[static_cast<std::size_t>(r)] = at;
    };
    for (int at = 0; at < static_cast<int>(program.instructions.size()); ++at) {
        const Instruction& i = program.instructions[static_cast<std::size_t>(at)];
        for (Register r : i.outputs) touch(r, at);
        for (const Operand& o : i.operands) touch(o.from, at);
        for (Register r : {i.input, i.segment.from, i.segment.columns, i.segment.weight}) touch(r, at);
    }
    for (const Written& w : program.writes) touch(w.from, -2);
    for (const Reduced& r : program.reductions)
        for (const Operand& o : r.operands) touch(o.from, -2);
    for (std::size_t r = 0; r < last.size(); ++r)
        if (last[r] >= 0)
            program.instructions[static_cast<std::size_t>(last[r])].dead.push_back(static_cast<Register>(r));
}

std::set<ir::SpaceId> frontiersUsed(const LoopProgram& program)
{
    std::set<ir::SpaceId> types;
    const auto include = [&](const RowClass& rows) {
        if (rows.kind == RowKind::Frontier) types.insert(rows.table);
    };
    for (const RegisterInfo& r : program.registers) include(r.rows);
    for (const Instruction& i : program.instructions) {
        include(i.in);
        for (const Operand& o : i.operands) include(o.rows);
        if (i.segment.from >= 0) include(i.segment.sourceRows);
    }
    return types;
}

}  // namespace hopscope::executor
