#include "pipeline/opening/inspection.h"

#include "pipeline/opening/data_lints.h"
#include "placement/strategy.h"

namespace hopscope::pipeline {

base::Result<std::optional<plan::Plan>> depthPlan(Prepared& prepared)
{
    addDataLints(prepared);
    if (prepared.analysis.refusal) return std::nullopt;
    base::Result<plan::Plan> plan = placement::makePlan(prepared.analysis, base::Strategy::Depth);
    if (!plan && plan.error().code != base::ErrorCode::Unsupported) return base::forward(plan);
    if (!plan) {
        prepared.analysis.refusal = plan.error();
        prepared.analysis.lints.push_back({.code = "no-split",
                                           .message = plan.error().message,
                                           .op = {},
                                           .blocking = true,
                                           .hint = plan.error().hint});
        return std::nullopt;
    }
    schema::fillBytes(*plan, prepared.analysis, prepared.sizes);
    return std::optional(std::move(*plan));
}

schema::InspectSubject subjectOf(const Prepared& prepared, const plan::Plan* plan)
{
    const loader::ModelInfo& info = prepared.model.info();
    return {.analysis = &prepared.analysis,
            .plan = plan,
            .inputs = &prepared.schema,
            .sizes = prepared.sizes,
            .model = info.path,
            .modelClass = info.className,
            .traced = info.traced,
            .exported = info.exported,
            .repaired = !info.repairs.empty(),
            .hashes = prepared.hashes,
            .notes = prepared.notes,
            .fromCode = prepared.fromCode};
}

}  // namespace hopscope::pipeline
