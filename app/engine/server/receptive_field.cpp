// model/receptiveField.

#include "pipeline/debugging/receptive_field.h"

#include "server/documents.h"

namespace hopscope::engine {

Outcome answer(const protocol::FindReceptiveField& query, const Work& work)
{
    receptive::Request request;
    request.table = query.table;
    request.node = query.node;
    request.seed = static_cast<std::uint64_t>(query.seed);
    request.average = query.average;
    RequestReporter reporter(work.call.progress);
    const auto field = pipeline::receptiveField(work.document.prepared, request, work.folder, reporter, work.call.stop);
    if (!field) return failed(field.error());
    return schema::receptiveFieldValue(*field);
}

}  // namespace hopscope::engine
