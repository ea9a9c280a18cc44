#include "executor/prologue.h"

#include <algorithm>

#include "analysis/stored.h"
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

// Tables with rows along the first dimension whose elements follow each other.
bool readsInPlace(const analysis::Analysis& analysis, Structure& structure, ir::ValueId value, bool stored)
{
    const ir::Value& v = analysis.program.value(value);
    if (analysis.rowDim(value) != 0) return false;
    if (stored) return true;
    if (v.origin == ir::Origin::Op) return false;
    const at::Tensor table = structure.value(value);
    return table.size(0) > 0 && table.select(0, 0).is_contiguous();
}

}  // namespace

StagePrograms compileStages(const analysis::Analysis& analysis, const plan::Plan& plan, const ResidentChoice& choice,
                            Structure& structure, const std::optional<TilingRequest>& tiling)
{
    StagePrograms stages;
    const bool gpu = !tiling;
    const Families families = tiling ? tiling->families : Families::none();
    std::unordered_set<ir::ValueId> stored;
    const base::StoreType store = tiling ? tiling->store : base::StoreType::Exact;
    const InPlace inPlace = [&](ir::ValueId v, bool inStrips) {
        if (gpu) return choice.holds(v);
        const bool narrow = analysis::isNarrowed(analysis, v, store);
        return !(narrow && inStrips) && readsInPlace(analysis, structure, v, stored.contains(v));
    };
    const auto inTiles = [&](const plan::Loop& loop) -> std::optional<LoopProgram> {
        if (tiling->batch) return std::nullopt;
        LoopProgram program = compileLoop(analysis, loop, stored, inPlace, Way::Tiles, families);
        program.store = store;
        program.tiling = tilingOf(analysis, structure, program, *tiling);
        return program.tiling ? std::optional(std::move(program)) : std::nullopt;
    };
    for (const plan::Stage& stage : plan.stages) {
        auto& loops = stages.emplace_back();
        for (const plan::Loop& loop : stage.loops) {
            auto tiles = tiling ? inTiles(loop) : std::nullopt;
            const Way way = gpu ? Way::Gpu : Way::Batches;
            loops.push_back(tiles ? std::move(*tiles) : compileLoop(analysis, loop, stored, inPlace, way, families));
            loops.back().store = store;
        }
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
