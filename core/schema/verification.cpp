#include "schema/verification.h"

#include "schema/described_document.h"

namespace hopscope::schema {

using json::Reader;
using json::Value;

std::string writeVerification(const Verification& verification, const std::optional<Verification>& check)
{
    Value document = documentOf(verification, "hopscope-verification");
    document["sample"] = json::written(check);
    return json::write(document, true);
}

base::Result<Verification> readVerification(const std::string& text, const std::string& file)
{
    const base::Result<Value> document = json::parse(text, file);
    if (!document) return base::forward(document);
    const Reader root(*document, file);
    checkEnvelope(root, "hopscope-verification");
    auto result = json::readAs<Verification>(root);
    (void)json::readAs<std::optional<Verification>>(root.child("sample"));
    if (!root.ok()) return base::forward(root.status());
    return result;
}

}  // namespace hopscope::schema
