#include "schema/documents.h"
#include "schema/plan_document.h"
#include "schema/plan_translation.h"

namespace hopscope::schema {

namespace {

PlanDocument documentOf(const plan::Plan& plan, const analysis::Analysis& analysis)
{
    const Names names(analysis);
    PlanDocument document{.plan = plan,
                          .unit = base::unitOf(plan.objective),
                          .reassociate = analysis.reassociate ? std::optional(true) : std::nullopt,
                          .stages = Translation(names)(plan.stages),
                          .checkpoints = {}};
    for (const plan::Checkpoint& stored : plan.checkpoints)
        document.checkpoints.push_back(plannedCheckpoint(stored, analysis));
    return document;
}

// The readable names of the values that the plan mentions.
CalledNames calledNames(const plan::Plan& plan, const analysis::Analysis& analysis)
{
    const analysis::ValueNames names(analysis);
    CalledNames called;
    const auto add = [&](ir::ValueId value) { called.byId[ir::valueName(value)] = names[value]; };
    for (const plan::Stage& stage : plan.stages)
        for (const plan::Loop& loop : stage.loops) {
            for (const plan::Access& read : loop.reads) add(read.value);
            for (const plan::Access& write : loop.writes) add(write.value);
        }
    for (const plan::Checkpoint& checkpoint : plan.checkpoints) add(checkpoint.value);
    return called;
}

}  // namespace

PlannedCheckpoint plannedCheckpoint(const plan::Checkpoint& stored, const analysis::Analysis& analysis)
{
    return {.stored = stored,
            .dtype = analysis.program.value(stored.value).dtype,
            .shape = symbolicShape(analysis, stored.value),
            .rowSpaces = rowSpaces(analysis, stored.value)};
}

json::Value planValue(const plan::Plan& plan, const analysis::Analysis& analysis)
{
    return planDocumentValue(documentOf(plan, analysis));
}

std::string writePlan(const plan::Plan& plan, const analysis::Analysis& analysis)
{
    PlanDocument document = documentOf(plan, analysis);
    document.names = calledNames(plan, analysis);
    return json::write(planDocumentValue(document), true);
}

}  // namespace hopscope::schema
