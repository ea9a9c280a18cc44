#include "schema/plan_document.h"

#include "schema/described_document.h"
#include "schema/name_check.h"
#include "schema/plan_forms.h"

namespace hopscope::schema {

constexpr const char* format = "hopscope-plan";

static void checkRead(const PlanDocument& document, const json::Reader& root)
{
    if (document.unit != base::unitOf(document.plan.objective))
        root.child("unit").refuse("is not the unit of the objective");
}

json::Value planDocumentValue(const PlanDocument& document) { return documentOf(document, format); }

PlanDocument readPlanDocument(const json::Reader& root)
{
    checkEnvelope(root, format);
    return json::readAs<PlanDocument>(root);
}

void checkNames(const PlanDocument& document, const json::Reader& root, const ModelNames& model)
{
    if (root.ok()) json::forEachForm(document, root, NameCheck(model));
}

}  // namespace hopscope::schema
