#include "executor/loop/gpu_tiles.h"

#include <algorithm>

#include "executor/loop/loop_sizer.h"
#include "executor/loop/staging_plan.h"

namespace hopscope::executor {

namespace {

constexpr std::int64_t leastTile = 64;
constexpr double unavoidable = 1.25;  // times the heaviest of the smallest tiles: hubs are as heavy in any tile

class GpuTiles {
public:
    GpuTiles(Session& session, const ResidentChoice& choice, const LoopProgram& program, const SlotBytes& slot)
        : m_memory(session.analysis, session.structure, program, true),
          m_count(session.structure.size(program.loop->destination))
    {
        const SlotBytes all = unsharedBytes(session.analysis, session.structure, choice, program);
        const auto share = [&](std::int64_t bytes, std::int64_t room) {
            return static_cast<double>(bytes) / static_cast<double>(std::max<std::int64_t>(m_count * room, 1));
        };
        m_slotsPerRow = std::max(share(all.up, slot.up), share(all.down, slot.down));
    }

    std::int64_t rows(double budget)
    {
        const double most = std::max(budget, unavoidable * heaviest(leastTile));
        std::int64_t rows = leastTile;
        while (rows < m_count && static_cast<double>(2 * rows) * m_slotsPerRow <= fullSlot &&
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
    const auto& batch = session.options.batch;
    const ResidentChoice choice = choiceWithJournal(session);
    const SlotBytes slot = slotBytes(session.analysis, session.structure, choice, programs, batch);
    for (auto& loops : programs)
        for (LoopProgram& program : loops)
            program.gpuTile = batch ? *batch : GpuTiles(session, choice, program, slot).rows(budget);
}

}  // namespace hopscope::executor
