// plan/graph.

#include "pipeline/debugging/receptive_field.h"

#include "server/documents.h"

namespace hopscope::engine {

Outcome answer(const protocol::DrawGraph& query, const Work& work)
{
    const base::Result<plan::Plan> plan = planOf(work.document, query.plan);
    if (!plan) return failed(plan.error());
    const receptive::PartRequest request{.node = query.node, .seed = static_cast<std::uint64_t>(query.seed)};
    RequestReporter reporter(work.call.progress);
    const auto part =
        pipeline::graphPart(work.document.prepared, *plan, request, work.folder, reporter, work.call.stop);
    if (!part) return failed(part.error());
    return schema::graphPartValue(*part);
}

}  // namespace hopscope::engine
