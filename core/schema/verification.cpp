#include "schema/verification.h"

#include "schema/envelope.h"
#include "json/described.h"

namespace hopscope::schema {

using json::Reader;
using json::Value;

Value tensorValue(const TensorRecord& record) { return json::written(record); }
Value coverageValue(const CoverageRecord& coverage) { return json::written(coverage); }
Value verificationValue(const Verification& verification) { return json::written(verification); }

std::string writeVerification(const Verification& verification, const std::optional<Verification>& check)
{
    Value document = startDocument("hopscope-verification");
    json::writeInto(document, verification);
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
