#include "executor/recovery/resuming.h"

#include "base/units.h"

namespace hopscope::executor {

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
