#include "schema/comparison.h"

#include "schema/described_document.h"
#include "schema/forms.h"

namespace hopscope::schema {

constexpr const char* format = "hopscope-comparison";

std::string writeComparison(const Comparison& comparison) { return json::write(documentOf(comparison, format), true); }

base::Result<Comparison> comparisonFrom(const json::Value& document, const std::string& name)
{
    return readDocument<Comparison>(document, format, name);
}

}  // namespace hopscope::schema
