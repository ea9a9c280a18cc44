#include "executor/batch/show_results.h"

#include "executor/probe.h"

namespace hopscope::executor {

void showResults(const Session& session, const LoopProgram& program, Block& block, const Instruction& instruction,
                 const std::vector<at::Tensor>& registers)
{
    const Instruction& i = instruction;
    if (i.act == Act::Read || i.act == Act::Narrow || i.act == Act::Positions) return;
    const Destinations& batch = block.destinations();
    const std::int64_t first = batch.count > 0 ? batch[0] : 0;
    const std::function<at::Tensor()> numbers = [&] { return block.rows(i.rows); };
    const std::function<at::Tensor()> owners = [&] {
        return i.rows.kind == ir::RowKind::Owned ? block.globals(i.rows, i.rows.table, i.rows.key) : block.rows(i.rows);
    };
    for (std::size_t k = 0; k < i.outputs.size(); ++k) {
        const ir::ValueId value =
            i.act == Act::Strips ? i.strips->outputs[k].first : session.analysis.program.op(i.op).outputs[k];
        const at::Tensor& made = registers[static_cast<std::size_t>(i.outputs[k])];
        session.options.probe->computed({.stage = session.stage,
                                         .loop = program.loop->destination,
                                         .first = first,
                                         .destinations = batch.count,
                                         .value = value,
                                         .rows = i.rows,
                                         .tensor = made,
                                         .rowNumbers = numbers,
                                         .owners = owners});
    }
}

}  // namespace hopscope::executor
