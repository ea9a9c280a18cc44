// debug/nan, debug/staged, debug/against and debug/watch.

#include "pipeline/debugging/debugging.h"

#include <algorithm>
#include <iterator>

#include "server/documents.h"

namespace hopscope::engine {

namespace {

pipeline::DebugOptions optionsOf(const protocol::Tolerances& tolerances)
{
    pipeline::DebugOptions options;
    options.tolerance.absolute = tolerances.absolute.value_or(options.tolerance.absolute);
    options.tolerance.relative = tolerances.relative.value_or(options.tolerance.relative);
    return options;
}

debugger::Breakpoint breakpointOf(const protocol::Breakpoint& asked)
{
    debugger::Breakpoint breakpoint{.place = asked.place};
    if (asked.node) breakpoint.condition = debugger::Condition::Node, breakpoint.node = *asked.node;
    if (asked.outside) {
        breakpoint.condition = debugger::Condition::OutsideRange;
        breakpoint.least = asked.outside->front(), breakpoint.most = asked.outside->back();
    }
    if (asked.notFinite) breakpoint.condition = debugger::Condition::NotFinite;
    return breakpoint;
}

template <class Report>
Outcome outcomeOf(const base::Result<Report>& found)
{
    if (!found) return failed(found.error());
    return schema::findingsValue(*found);
}

}  // namespace

std::vector<debugger::Breakpoint> breakpointsOf(const std::vector<protocol::Breakpoint>& asked)
{
    std::vector<debugger::Breakpoint> found;
    std::ranges::transform(asked, std::back_inserter(found), breakpointOf);
    return found;
}

Outcome answer(const protocol::FindNonFinite& query, const Work& work)
{
    const base::Result<plan::Plan> plan = planOf(work.document, query.plan);
    if (!plan) return failed(plan.error());
    pipeline::DebugOptions options;
    options.batch = query.batch;
    RequestReporter reporter(work.call.progress);
    return outcomeOf(
        pipeline::findNonFinite(work.document.prepared, *plan, options, work.folder, reporter, work.call.stop));
}

Outcome answer(const protocol::CompareStaged& query, const Work& work)
{
    const base::Result<plan::Plan> plan = planOf(work.document, query.plan);
    if (!plan) return failed(plan.error());
    pipeline::DebugOptions options = optionsOf(query.tolerances);
    options.batch = query.batch;
    RequestReporter reporter(work.call.progress);
    return outcomeOf(
        pipeline::compareStaged(work.document.prepared, *plan, options, work.folder, reporter, work.call.stop));
}

Outcome answer(const protocol::CompareModels& query, const Work& work)
{
    const pipeline::Prepared& prepared = work.document.prepared;
    pipeline::DebugOptions options = optionsOf(query.tolerances);
    options.against = query.against;
    RequestReporter reporter(work.call.progress);
    const pipeline::ModelOptions model{
        .model = query.against, .data = prepared.dataArguments, .roles = query.roles, .trusted = query.trusted};
    return outcomeOf(pipeline::compareModels(prepared, model, options, work.folder, reporter, work.call.stop));
}

Outcome answer(const protocol::WatchValues& query, const Work& work)
{
    const base::Result<plan::Plan> plan = planOf(work.document, query.plan);
    if (!plan) return failed(plan.error());
    debugger::WatchRequest request;
    request.breakpoints = breakpointsOf(query.breakpoints);
    request.hits = static_cast<std::size_t>(query.hits);
    request.nodes = query.nodes;
    request.values = query.values;
    request.aggregations = query.aggregations;
    pipeline::DebugOptions options;
    options.batch = query.batch;
    RequestReporter reporter(work.call.progress);
    return outcomeOf(
        pipeline::watchValues(work.document.prepared, *plan, request, options, work.folder, reporter, work.call.stop));
}

}  // namespace hopscope::engine
