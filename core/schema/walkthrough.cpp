#include "schema/walkthrough.h"

#include "schema/described_document.h"
#include "schema/forms.h"
#include "schema/name_check.h"

namespace hopscope::plan {

static void checkRead(const WalkStep& step, const json::Reader& item)
{
    const bool stores = step.kind == base::WalkKind::Store;
    if (stores != step.stored.has_value())
        item.child("stored").refuse(stores ? "must name a value"
                                           : "must be null: only a step of the kind `store` names a value");
}

}  // namespace hopscope::plan

namespace hopscope::schema {

constexpr const char* format = "hopscope-steps";

json::Value walkthroughsValue(const plan::Walkthroughs& all) { return documentOf(all, format); }

base::Result<plan::Walkthroughs> walkthroughsFrom(const json::Value& document, const std::string& name,
                                                  const ModelNames& model)
{
    const json::Reader root(document, name);
    checkEnvelope(root, format);
    const auto all = json::readAs<plan::Walkthroughs>(root);
    if (root.ok()) json::forEachForm(all, root, NameCheck(model));
    if (!root.ok()) return base::forward(root.status());
    return all;
}

}  // namespace hopscope::schema
