// plan/memory.

#include "pipeline/planning/choice.h"
#include "pipeline/planning/stage_memory.h"
#include "server/documents.h"

namespace hopscope::engine {

Outcome answer(const protocol::ShowMemory& query, const Work& work)
{
    const base::Settings settings = base::forTask(query.settings, base::Task::Run);
    const base::Result<plan::Plan> plan = planOf(work.document, query.plan);
    if (!plan) return failed(plan.error());
    const forecast::PredictOptions limits = pipeline::limitsOf(settings, settings.batch);
    const auto memory = pipeline::stageMemory(work.document.prepared, work.document.predictor, *plan,
                                              plan::StageId(query.stage), limits, work.call.stop);
    if (!memory) return failed(memory.error());
    return schema::stageMemoryValue(*memory);
}

}  // namespace hopscope::engine
