#include "executor/recovery/resuming.h"

#include <algorithm>

#include "base/proc.h"
#include "base/units.h"

namespace hopscope::executor {

namespace {

constexpr double steadyShare = 0.125;  // of a limit, which applies to the whole process
constexpr double steadyBytes = 0.4e9;  // cpuBatchBytes less a margin for errors of predictions
constexpr double steadyGpuBytes = 2e9;

}  // namespace

std::int64_t steadyBatchBytes(const std::optional<std::int64_t>& limit, const DeviceContext& device)
{
    const auto all = static_cast<double>(limit ? *limit : device.totalMemory());
    const double most = device.gpu() ? steadyGpuBytes : steadyBytes;
    return static_cast<std::int64_t>(all > 0 ? std::min(all * steadyShare, most) : most);
}

std::vector<plan::LoopCut> cutsOf(const StagePrograms& programs)
{
    std::vector<plan::LoopCut> cuts;
    for (std::size_t s = 0; s < programs.size(); ++s)
        for (std::size_t l = 0; l < programs[s].size(); ++l) {
            const LoopProgram& program = programs[s][l];
            cuts.push_back({.stage = plan::StageId::at(s),
                            .loop = static_cast<int>(l) + 1,
                            .tile = program.tiling ? std::optional(program.tiling->rows) : program.gpuTile});
        }
    return cuts;
}

std::string sentenceOf(const ResumeReport& resumed)
{
    const auto count = [](std::int64_t n) { return base::formatCount(static_cast<double>(n)); };
    std::string text = "resumed: destinations that were already finished: " + count(resumed.destinations) +
                       " (chunks: " + count(resumed.chunks) + ")";
    if (resumed.damaged > 0) text += "; damaged chunks, which are computed again: " + count(resumed.damaged);
    return text;
}

}  // namespace hopscope::executor
