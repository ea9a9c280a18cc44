// debug/nan, debug/staged, debug/against and debug/watch.

#include "pipeline/debugging.h"

#include "schema/documents.h"
#include "server/documents.h"

namespace hopscope::engine {

pipeline::DebugOptions debugOptionsOf(const json::Reader& params)
{
    pipeline::DebugOptions options;
    options.against = textOr(params, "against", "");
    options.batch = positive(params, "batch");
    options.tolerance.absolute = params.maybe<double>("absolute").value_or(options.tolerance.absolute);
    options.tolerance.relative = params.maybe<double>("relative").value_or(options.tolerance.relative);
    return options;
}

base::Result<plan::Plan> debugPlanOf(const Document& document, const json::Reader& params)
{
    const pipeline::Prepared& prepared = document.prepared;
    if (prepared.analysis.refusal) return tl::unexpected(*prepared.analysis.refusal);
    return schema::planFrom(params.child("plan").value(), prepared.analysis, "plan", prepared.hashes);
}

namespace {

debugger::Breakpoint breakpointFrom(const json::Reader& item)
{
    debugger::Breakpoint breakpoint{.place = item.get<std::string>("place")};
    if (const auto node = item.maybe<std::int64_t>("node"))
        breakpoint.condition = debugger::Condition::Node, breakpoint.node = *node;
    if (const auto range = item.maybe<std::vector<double>>("outside")) {
        breakpoint.condition = debugger::Condition::OutsideRange;
        if (range->size() != 2) item.child("outside").refuse("must be two numbers, the least and the largest");
        else breakpoint.least = range->front(), breakpoint.most = range->back();
    }
    if (item.maybe<bool>("not_finite").value_or(false)) breakpoint.condition = debugger::Condition::NotFinite;
    return breakpoint;
}

debugger::WatchRequest watchRequestFrom(const json::Reader& params)
{
    debugger::WatchRequest request;
    request.breakpoints = breakpointsOf(params);
    request.hits = static_cast<std::size_t>(positive(params, "hits").value_or(static_cast<std::int64_t>(request.hits)));
    request.nodes = params.maybe<std::vector<std::int64_t>>("nodes").value_or(request.nodes);
    request.values = params.maybe<std::vector<std::string>>("values").value_or(request.values);
    request.aggregations = params.maybe<std::vector<std::string>>("aggregations").value_or(request.aggregations);
    return request;
}

template <class Report>
Outcome outcomeOf(const base::Result<Report>& found)
{
    if (!found) return failed(found.error());
    return schema::findingsValue(*found);
}

}  // namespace

std::vector<debugger::Breakpoint> breakpointsOf(const json::Reader& params)
{
    std::vector<debugger::Breakpoint> found;
    if (!params.has("breakpoints")) return found;
    for (const json::Reader& item : params.items("breakpoints")) found.push_back(breakpointFrom(item));
    return found;
}

Outcome huntNonFinite(const Document& document, const json::Reader& params, const std::string& folder, const Call& call)
{
    const pipeline::DebugOptions options = debugOptionsOf(params);
    const base::Result<plan::Plan> plan = debugPlanOf(document, params);
    if (!params.ok()) return invalid(params);
    if (!plan) return failed(plan.error());
    RequestReporter reporter(call.progress);
    return outcomeOf(pipeline::findNonFinite(document.prepared, *plan, options, folder, reporter, call.stop));
}

Outcome compareStaged(const Document& document, const json::Reader& params, const std::string& folder, const Call& call)
{
    const pipeline::DebugOptions options = debugOptionsOf(params);
    const base::Result<plan::Plan> plan = debugPlanOf(document, params);
    if (!params.ok()) return invalid(params);
    if (!plan) return failed(plan.error());
    RequestReporter reporter(call.progress);
    return outcomeOf(pipeline::compareStaged(document.prepared, *plan, options, folder, reporter, call.stop));
}

Outcome compareModels(const Document& document, const json::Reader& params, const std::string& folder, const Call& call)
{
    const pipeline::DebugOptions options = debugOptionsOf(params);
    const auto roles = params.maybe<std::vector<std::string>>("roles").value_or(std::vector<std::string>());
    const bool trusted = params.maybe<bool>("trusted").value_or(false);
    if (params.ok() && options.against.empty()) params.child("against").refuse("must name a model");
    if (!params.ok()) return invalid(params);
    RequestReporter reporter(call.progress);
    const pipeline::ModelOptions model{
        .model = options.against, .data = document.prepared.dataArguments, .roles = roles, .trusted = trusted};
    return outcomeOf(pipeline::compareModels(document.prepared, model, options, folder, reporter, call.stop));
}

Outcome watchValues(const Document& document, const json::Reader& params, const std::string& folder, const Call& call)
{
    const pipeline::DebugOptions options = debugOptionsOf(params);
    const debugger::WatchRequest request = watchRequestFrom(params);
    const base::Result<plan::Plan> plan = debugPlanOf(document, params);
    if (!params.ok()) return invalid(params);
    if (!plan) return failed(plan.error());
    RequestReporter reporter(call.progress);
    return outcomeOf(pipeline::watchValues(document.prepared, *plan, request, options, folder, reporter, call.stop));
}

}  // namespace hopscope::engine
