#include "server/documents.h"

#include "pipeline/opening/inspection.h"
#include "schema/documents.h"

namespace hopscope::engine {

namespace {

base::Result<json::Value> inspectValue(pipeline::Prepared& prepared)
{
    const base::Result<std::optional<plan::Plan>> plan = pipeline::depthPlan(prepared);
    if (!plan) return base::forward(plan);
    return schema::inspectValue(pipeline::subjectOf(prepared, plan->has_value() ? &**plan : nullptr));
}

}  // namespace

Outcome Documents::open(const protocol::OpenModel& query, const Call& call)
{
    const std::string& cache = query.settings.cache;
    if (const base::Status made = pipeline::makeCacheFolder(cache); !made) return failed(made.error());
    RequestReporter reporter(call.progress);
    base::Result<pipeline::Prepared> prepared =
        pipeline::prepare(modelOptionsOf(query.files, query.settings), true, reporter);
    if (!prepared) return failed(prepared.error());
    pipeline::noteReassociations(*prepared);
    if (const base::Status settled = pipeline::settleBranches(*prepared, m_folder, reporter, call.stop); !settled)
        return failed(settled.error());
    base::Result<json::Value> inspect = inspectValue(*prepared);
    if (!inspect) return failed(inspect.error());
    if (call.stop.stop_requested())
        return failed({.code = base::ErrorCode::Cancelled, .message = "cancelled", .hint = {}, .where = {}});
    const std::int64_t id = m_next++;
    m_documents[id] = std::make_unique<Document>(id, std::move(*prepared), m_folder, cache);
    json::Value result;
    result["document"] = id;
    result["inspect"] = std::move(*inspect);
    return result;
}

Document* Documents::find(std::int64_t id, const json::Reader& params)
{
    const auto it = m_documents.find(id);
    if (it == m_documents.end()) params.child("document").refuse("is not an open model");
    return it == m_documents.end() ? nullptr : it->second.get();
}

base::Result<plan::Plan> planOf(const Document& document, const protocol::JsonObject& plan)
{
    const pipeline::Prepared& prepared = document.prepared;
    if (prepared.analysis.refusal) return tl::unexpected(*prepared.analysis.refusal);
    return schema::planFrom(plan.value, prepared.analysis, "plan", prepared.hashes);
}

pipeline::ModelOptions modelOptionsOf(const protocol::ModelFiles& files, const base::Settings& settings)
{
    return {.model = files.model,
            .data = files.data,
            .roles = files.roles,
            .reassociate = settings.reassociate,
            .trusted = files.trusted};
}

}  // namespace hopscope::engine
