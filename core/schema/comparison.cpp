#include "schema/comparison.h"

#include "schema/described_document.h"
#include "schema/forms.h"

namespace hopscope::schema {

namespace {

constexpr const char* format = "hopscope-comparison";

}  // namespace

std::string writeComparison(const Comparison& comparison)
{
    json::Value document = startDocument(format);
    json::writeInto(document, comparison);
    return json::write(document, true);
}

base::Result<Comparison> comparisonFrom(const json::Value& document, const std::string& name)
{
    return readDocument<Comparison>(document, format, name);
}

}  // namespace hopscope::schema
