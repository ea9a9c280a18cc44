// plan/graph.

#include "pipeline/receptive_field.h"

#include "schema/documents.h"
#include "server/documents.h"

namespace hopscope::engine {

Outcome planGraph(const Document& document, const json::Reader& params, const std::string& folder, const Call& call)
{
    const pipeline::Prepared& prepared = document.prepared;
    receptive::PartRequest request;
    request.node = params.maybe<std::int64_t>("node");
    request.seed = static_cast<std::uint64_t>(params.maybe<std::int64_t>("seed").value_or(1));
    const json::Value& wanted = params.child("plan").value();
    if (!params.ok()) return invalid(params);
    if (prepared.analysis.refusal) return failed(*prepared.analysis.refusal);
    const base::Result<plan::Plan> plan = schema::planFrom(wanted, prepared.analysis, "plan", prepared.hashes);
    if (!plan) return failed(plan.error());
    RequestReporter reporter(call.progress);
    const auto part = pipeline::graphPart(prepared, *plan, request, folder, reporter, call.stop);
    if (!part) return failed(part.error());
    return schema::graphPartValue(*part);
}

}  // namespace hopscope::engine
