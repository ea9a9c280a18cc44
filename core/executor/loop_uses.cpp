#include <algorithm>

#include "executor/loop_program.h"
#include "executor/structure.h"

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

std::map<ir::ValueId, std::int64_t> inPlaceBytes(const analysis::Analysis& analysis, Structure& structure,
                                                 const LoopProgram& program)
{
    std::map<ir::ValueId, std::int64_t> bytes;
    for (const ir::ValueId v : program.inPlace) {
        if (analysis.program.value(v).origin == ir::Origin::Op) {
            bytes[v] = wholeBytes(analysis, v, structure.sizes());
        } else {  // rows of an input may lie apart
            const at::Tensor table = structure.value(v);
            bytes[v] = table.size(0) * table.stride(0) * static_cast<std::int64_t>(table.element_size());
        }
    }
    return bytes;
}

}  // namespace hopscope::executor
