#include "executor/loop/loop_compiler.h"

#include "analysis/stored.h"

namespace hopscope::executor {

namespace {

// Tables with rows along the first dimension whose elements follow each other.
bool isTable(const analysis::Analysis& analysis, Structure& structure, ir::ValueId value, bool stored)
{
    const ir::Value& v = analysis.program.value(value);
    if (analysis.rowDim(value) != 0) return false;
    if (stored) return true;
    if (v.origin == ir::Origin::Op) return false;
    const at::Tensor table = structure.value(value);
    return table.size(0) > 0 && table.select(0, 0).is_contiguous();
}

}  // namespace

LoopCompiler::LoopCompiler(const analysis::Analysis& analysis, const ResidentChoice& choice, Structure& structure,
                           const Families& families, const std::optional<TilingRequest>& tiling)
    : m_analysis(analysis),
      m_choice(choice),
      m_structure(structure),
      m_families(families),
      m_tiling(tiling)
{}

LoopProgram LoopCompiler::compile(const plan::Loop& loop, const StoredValues& stored) const
{
    if (std::optional<LoopProgram> tiles = forTiles(loop, stored)) {
        tiles->tiling = tiling(*tiles);
        if (tiles->tiling) return std::move(*tiles);
    }
    return inBatches(loop, stored);
}

std::optional<LoopProgram> LoopCompiler::forTiles(const plan::Loop& loop, const StoredValues& stored) const
{
    if (!m_tiling || m_tiling->batch) return std::nullopt;
    return compiled(loop, stored, Way::Tiles);
}

std::optional<Tiling> LoopCompiler::tiling(const LoopProgram& forTiles) const
{
    return m_tiling ? tilingOf(m_analysis, m_structure, forTiles, *m_tiling) : std::nullopt;
}

LoopProgram LoopCompiler::inBatches(const plan::Loop& loop, const StoredValues& stored) const
{
    return compiled(loop, stored, m_tiling ? Way::Batches : Way::Gpu);
}

LoopProgram LoopCompiler::compiled(const plan::Loop& loop, const StoredValues& stored, Way way) const
{
    const InPlace inPlace = [&](ir::ValueId v, bool inStrips) { return readsInPlace(v, inStrips, stored.contains(v)); };
    LoopProgram program = compileLoop(m_analysis, loop, stored, inPlace, way, m_families);
    if (m_tiling) program.store = m_tiling->store;
    return program;
}

bool LoopCompiler::readsInPlace(ir::ValueId value, bool inStrips, bool stored) const
{
    if (!m_tiling) return m_choice.holds(value) || m_choice.divides(value);
    const bool narrow = analysis::isNarrowed(m_analysis, value, m_tiling->store);
    return !(narrow && inStrips) && isTable(m_analysis, m_structure, value, stored);
}

}  // namespace hopscope::executor
