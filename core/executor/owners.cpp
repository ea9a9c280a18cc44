#include "executor/owners.h"

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include "executor/arrange.h"
#include "executor/exception_boundary.h"
#include "executor/halo.h"
#include "executor/resuming.h"
#include "executor/tiling.h"

namespace hopscope::executor {

namespace {

class Shares {
public:
    Shares(Session& session, double budget, int workers)
        : m_session(session),
          m_programs(compiled(session, budget)),
          m_ranges(session, m_programs, budget, workers),
          m_halo(session, m_programs, m_ranges)
    {}

    std::vector<OwnedStage> of(int worker)
    {
        std::vector<OwnedStage> stages;
        for (std::size_t s = 0; s < m_programs.size(); ++s) stages.push_back(stage(plan::StageId::at(s), worker));
        for (const HaloRows& halo : m_halo.of(worker)) {
            OwnedStage& stage = stages.at(static_cast<std::size_t>(halo.stage.number) - 1);
            stage.haloRows += halo.rows;
            stage.haloBytes += halo.rows * halo.rowBytes;
        }
        return stages;
    }

private:
    static StagePrograms compiled(Session& session, double budget)
    {
        StagePrograms programs =
            compileStages(session.analysis, session.plan, session.choice, session.structure, tilingOf(session, budget));
        arrangeNodes(session, programs);
        return programs;
    }

    OwnedStage stage(plan::StageId index, int worker)
    {
        OwnedStage stage{.index = index, .ranges = {}};
        const auto& loops = m_programs.at(static_cast<std::size_t>(index.number) - 1);
        double mine = 0, all = 0;
        for (std::size_t l = 0; l < loops.size(); ++l) {
            const LoopNumber number{index, static_cast<int>(l) + 1};
            const Destinations range = m_ranges.of(number, worker);
            const LoopWork& work = m_ranges.work(number);
            const double here = work.before(range.first + range.count) - work.before(range.first);
            stage.ranges.push_back(
                {m_session.analysis.tables.spaceName(loops[l].loop->destination), range.first, range.count});
            stage.destinations += range.count;
            stage.edges += work.edgesOf(here, range.count);
            mine += here;
            all += work.total();
        }
        stage.share = all > 0 ? mine / all : 0;
        addRows(stage, worker);
        return stage;
    }

    void addRows(OwnedStage& stage, int worker)
    {
        for (const ir::ValueId value : m_halo.valuesOf(stage.index)) {
            const std::int64_t rows = m_halo.owned(value, worker), bytes = rows * m_halo.rowBytes(value);
            stage.storedRows += rows;
            stage.storedBytes += bytes;
            if (!m_session.isOutput(value)) continue;
            stage.outputRows += rows;
            stage.outputBytes += bytes;
        }
    }

    Session& m_session;
    StagePrograms m_programs;
    OwnedRanges m_ranges;
    Halo m_halo;
};

}  // namespace

base::Result<std::vector<std::vector<OwnedStage>>> shareOut(const std::shared_ptr<Structure>& structure,
                                                            const analysis::Analysis& analysis, const plan::Plan& plan,
                                                            const Options& options, int workers, std::stop_token stop)
{
    const c10::InferenceMode inference;
    const Cores cores(options.threads);
    return catchAtBoundary(
        [&] {
            structure->stopBy(stop);
            Observer silent;
            Session session(*structure, analysis, plan, options, silent, std::move(stop));
            Shares shares(session, static_cast<double>(steadyBatchBytes(options.memoryLimit)), workers);
            std::vector<std::vector<OwnedStage>> all;
            for (int worker = 1; worker <= workers; ++worker) all.push_back(shares.of(worker));
            return all;
        },
        [] { return base::fail(base::ErrorCode::Resources, "out of memory while the graph is cut"); });
}

}  // namespace hopscope::executor
