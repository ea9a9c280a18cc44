#include "executor/loop/gpu_tiles.h"

#include <algorithm>

#include "executor/loop/loop_sizer.h"
#include "executor/loop/staging_plan.h"

namespace hopscope::executor {

namespace {

constexpr std::int64_t leastTile = 64;
constexpr std::int64_t usefulTile = 8192;  // destinations: larger tiles only if there are enough of them
constexpr std::int64_t fewestTiles = 16;   // for several GPUs to share, and for a run to continue from
constexpr double unavoidable = 1.25;       // times the heaviest of the smallest tiles: hubs are as heavy in any tile

class GpuTiles {
public:
    GpuTiles(const analysis::Analysis& analysis, Structure& structure, const ResidentChoice& choice,
             const LoopProgram& program, const SlotBytes& slot)
        : m_memory(analysis, structure, program, true),
          m_count(structure.size(program.loop->destination))
    {
        const SlotBytes all = unsharedBytes(analysis, structure, choice, program);
        const auto share = [&](std::int64_t bytes, std::int64_t room) {
            return static_cast<double>(bytes) / static_cast<double>(std::max<std::int64_t>(m_count * room, 1));
        };
        m_slotsPerRow = std::max(share(all.up, slot.up), share(all.down, slot.down));
    }

    std::int64_t rows(double budget)
    {
        const double most = std::max(budget, unavoidable * heaviest(leastTile));
        const std::int64_t useful = std::max(m_count / fewestTiles, usefulTile);
        std::int64_t rows = leastTile;
        while (rows < m_count && 2 * rows <= useful && static_cast<double>(2 * rows) * m_slotsPerRow <= fullSlot &&
               heaviest(2 * rows) <= most)
            rows *= 2;
        return rows;
    }

private:
    // The bytes of the heaviest tile.
    double heaviest(std::int64_t rows)
    {
        double most = 0;
        for (std::int64_t first = 0; first < m_count; first += rows)
            most = std::max(most, m_memory.bytes({first, std::min(rows, m_count - first)}, 1));
        return most;
    }

    BatchMemory m_memory;
    std::int64_t m_count;
    double m_slotsPerRow = 0;  // the share of a slot that a row takes on average
};

}  // namespace

void tileOnGpu(Session& session, StagePrograms& programs, double budget)
{
    tileOnGpu(session.analysis, session.structure, choiceWithJournal(session), programs, session.options.batch, budget);
}

void tileOnGpu(const analysis::Analysis& analysis, Structure& structure, const ResidentChoice& choice,
               StagePrograms& programs, std::optional<std::int64_t> batch, double budget)
{
    const SlotBytes slot = slotBytes(analysis, structure, choice, programs, batch);
    for (auto& loops : programs)
        for (LoopProgram& program : loops)
            program.gpuTile = batch ? *batch : GpuTiles(analysis, structure, choice, program, slot).rows(budget);
}

}  // namespace hopscope::executor
