#include "server/documents.h"

#include "pipeline/inspection.h"
#include "protocol/settings.h"

namespace hopscope::engine {

namespace {

base::Result<json::Value> inspectValue(pipeline::Prepared& prepared)
{
    const base::Result<std::optional<plan::Plan>> plan = pipeline::depthPlan(prepared);
    if (!plan) return base::forward(plan);
    return schema::inspectValue(pipeline::subjectOf(prepared, plan->has_value() ? &**plan : nullptr));
}

}  // namespace

Outcome Documents::open(const json::Reader& params, const Call& call)
{
    const pipeline::ModelOptions options = modelOptionsOf(params);
    const std::string cache = protocol::readSettings(params).cache;
    if (!params.ok()) return invalid(params);
    if (const base::Status made = pipeline::makeCacheFolder(cache); !made) return failed(made.error());
    RequestReporter reporter(call.progress);
    base::Result<pipeline::Prepared> prepared = pipeline::prepare(options, true, reporter);
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

Document* Documents::find(const json::Reader& params)
{
    const auto id = params.get<std::int64_t>("document");
    const auto it = m_documents.find(id);
    if (it == m_documents.end()) params.child("document").refuse("is not an open model");
    return it == m_documents.end() ? nullptr : it->second.get();
}

pipeline::ModelOptions modelOptionsOf(const json::Reader& params)
{
    pipeline::ModelOptions options;
    options.model = params.get<std::string>("model");
    options.data = params.maybe<std::vector<std::string>>("data").value_or(options.data);
    options.roles = params.maybe<std::vector<std::string>>("roles").value_or(options.roles);
    options.reassociate = protocol::readSettings(params).reassociate;
    options.trusted = params.maybe<bool>("trusted").value_or(false);
    return options;
}

std::string textOr(const json::Reader& params, const char* key, const std::string& otherwise)
{
    return params.maybe<std::string>(key).value_or(otherwise);
}

std::optional<std::int64_t> positive(const json::Reader& params, const char* key)
{
    const auto number = params.maybe<std::int64_t>(key);
    if (number && *number < 1) params.child(key).refuse("must be at least 1");
    return number;
}

}  // namespace hopscope::engine
