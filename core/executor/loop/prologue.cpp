#include "executor/loop/prologue.h"

#include <algorithm>

#include "executor/loop/loop_compiler.h"
#include "executor/memory.h"

namespace hopscope::executor {

namespace {

bool hasRows(const analysis::Analysis& analysis, const ir::Op& op)
{
    return std::ranges::any_of(op.outputs, [&](ir::ValueId v) { return analysis.hasRows(v); });
}

// Adjacencies and columns that the loop's blocks are cut from.
void prepare(Structure& structure, const analysis::Analysis& analysis, const LoopProgram& program)
{
    for (const ir::RowClass& rows : program.classes) structure.adjacency(rows.table, rows.key);
    for (const plan::FrontierSource& s : program.loop->frontier) {
        const ir::RowClass rows = analysis::owned(analysis, s.space, s.owner);
        if (rows.kind == ir::RowKind::Owned) structure.ownedColumn(s.space, s.owner, s.key);
        else structure.column(s.space, s.key);
    }
    for (const Instruction& i : program.instructions) {
        if (i.act == Act::Select) structure.parentRows(i.rows.table);
        if (i.act == Act::Pick) structure.column(i.space, i.key);
    }
    for (const Written& w : program.writes)
        for (const ir::SpaceId s : analysis.info(w.value).dims)
            if (s.valid()) structure.size(s);
}

}  // namespace

StagePrograms compileStages(const analysis::Analysis& analysis, const plan::Plan& plan, const ResidentChoice& choice,
                            Structure& structure, const Families& families, const std::optional<TilingRequest>& tiling,
                            base::StoreType store)
{
    StagePrograms stages;
    const LoopCompiler compiler(analysis, choice, structure, families, tiling);
    StoredValues stored;
    for (const plan::Stage& stage : plan.stages) {
        auto& loops = stages.emplace_back();
        for (const plan::Loop& loop : stage.loops) loops.emplace_back(compiler.compile(loop, stored)).store = store;
        for (const plan::Loop& loop : stage.loops)
            for (const plan::Access& w : loop.writes) stored.insert(w.value);
    }
    return stages;
}

std::unordered_set<ir::ValueId> prologueValues(const analysis::Analysis& analysis, const StagePrograms& programs)
{
    std::unordered_set<ir::ValueId> values;
    const auto include = [&](ir::ValueId v) {
        if (analysis.available(v) && analysis.program.value(v).kind == ir::ValueKind::Tensor) values.insert(v);
    };
    for (const auto& loops : programs)
        for (const LoopProgram& p : loops) values.insert(p.leaves.begin(), p.leaves.end());
    for (const ir::Op& op : analysis.program.ops)
        if (!analysis.info(op.id).structureOnly && !hasRows(analysis, op))
            ir::forEachOperand(op, [&](ir::Slot slot, ir::ValueId v) {
                if (analysis.info(op.id).use(slot).use != analysis::Use::Shape) include(v);
            });
    for (const ir::NamedValue& o : analysis.program.outputs) include(o.value);
    return values;
}

std::unordered_set<ir::ValueId> orderedValues(const StagePrograms& programs)
{
    std::unordered_set<ir::ValueId> values;
    for (const auto& loops : programs)
        for (const LoopProgram& p : loops)
            for (const auto& [value, rows] : p.owned) values.insert(value);
    return values;
}

void makePrologue(Structure& structure, const analysis::Analysis& analysis, const StagePrograms& programs,
                  const std::string& folder)
{
    const SpillScope spill(folder, spillThreshold);
    const auto values = prologueValues(analysis, programs);
    structure.keep(values, orderedValues(programs));
    structure.checkGuards();
    for (const auto& loops : programs)
        for (const LoopProgram& p : loops) prepare(structure, analysis, p);
    for (const ir::ValueId v : values) structure.value(v);
    for (const auto& loops : programs)
        for (const LoopProgram& p : loops)
            for (const auto& [value, rows] : p.owned) structure.ownedValue(value, rows);
    structure.dropOthers();
}

}  // namespace hopscope::executor
