// model/receptiveField.

#include "pipeline/receptive_field.h"

#include "server/documents.h"

namespace hopscope::engine {

Outcome receptiveField(const Document& document, const json::Reader& params, const std::string& folder,
                       const Call& call)
{
    receptive::Request request;
    request.table = textOr(params, "table", "");
    request.node = params.maybe<std::int64_t>("node");
    request.seed = static_cast<std::uint64_t>(params.maybe<std::int64_t>("seed").value_or(1));
    request.average = params.maybe<bool>("average").value_or(true);
    if (!params.ok()) return invalid(params);
    RequestReporter reporter(call.progress);
    const auto field = pipeline::receptiveField(document.prepared, request, folder, reporter, call.stop);
    if (!field) return failed(field.error());
    return schema::receptiveFieldValue(*field);
}

}  // namespace hopscope::engine
