// plan/memory.

#include "pipeline/choice.h"
#include "pipeline/stage_memory.h"
#include "protocol/settings.h"
#include "schema/documents.h"
#include "server/documents.h"

namespace hopscope::engine {

Outcome planMemory(Document& document, const json::Reader& params, const std::string&, const Call& call)
{
    const pipeline::Prepared& prepared = document.prepared;
    const plan::StageId stage(params.get<int>("stage"));
    const base::Settings settings = protocol::readSettings(params, base::Task::Run);
    const json::Value& wanted = params.child("plan").value();
    if (!params.ok()) return invalid(params);
    if (prepared.analysis.refusal) return failed(*prepared.analysis.refusal);
    const base::Result<plan::Plan> plan = schema::planFrom(wanted, prepared.analysis, "plan", prepared.hashes);
    if (!plan) return failed(plan.error());
    const forecast::PredictOptions limits = pipeline::limitsOf(settings, settings.batch);
    const auto memory = pipeline::stageMemory(prepared, document.predictor, *plan, stage, limits, call.stop);
    if (!memory) return failed(memory.error());
    return schema::stageMemoryValue(*memory);
}

}  // namespace hopscope::engine
