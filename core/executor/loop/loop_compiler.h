#pragma once

// Private to executor: compiles the loops of a plan for a device, one by one.

#include <optional>
#include <unordered_set>

#include "executor/loop/tiles.h"
#include "executor/program/loop_program.h"
#include "executor/session/residents.h"
#include "executor/structure.h"

namespace hopscope::executor {

using StoredValues = std::unordered_set<ir::ValueId>;

class LoopCompiler {
public:
    // `tiling` is for a CPU, on which loops run in tiles if possible. The first three arguments must outlive the compiler.
    LoopCompiler(const analysis::Analysis& analysis, const ResidentChoice& choice, Structure& structure,
                 const Families& families, const std::optional<TilingRequest>& tiling);

    // Compiles a loop, which must outlive the program. `stored` contains at least those of the values written by
    // earlier stages that the loop computes or reads. Linear in the loop.
    [[nodiscard]] LoopProgram compile(const plan::Loop& loop, const StoredValues& stored) const;

    // The steps of compile() on a CPU. forTiles() returns the program for tiles, before it is known whether tiles pay
    // off; nullopt if tiles are not wanted.
    [[nodiscard]] std::optional<LoopProgram> forTiles(const plan::Loop& loop, const StoredValues& stored) const;
    // See tilingOf.
    [[nodiscard]] std::optional<Tiling> tiling(const LoopProgram& forTiles) const;
    // Returns the program that computes all destinations, or a part of them, at once.
    [[nodiscard]] LoopProgram inBatches(const plan::Loop& loop, const StoredValues& stored) const;

private:
    [[nodiscard]] LoopProgram compiled(const plan::Loop& loop, const StoredValues& stored, Way way) const;
    [[nodiscard]] bool readsInPlace(ir::ValueId value, bool inStrips, bool stored) const;

    const analysis::Analysis& m_analysis;
    const ResidentChoice& m_choice;
    Structure& m_structure;
    Families m_families;
    std::optional<TilingRequest> m_tiling;
};

}  // namespace hopscope::executor
