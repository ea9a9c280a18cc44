#include "schema/inspect_document.h"

#include "schema/described_document.h"
#include "schema/forms.h"
#include "schema/inspect_forms.h"

namespace hopscope::schema {

constexpr const char* format = "hopscope-inspect";

static void checkRead(const InspectedValue& value, const json::Reader& item)
{
    if (value.rowSpaces.size() != value.shape.size())
        item.child("row_spaces").refuse("does not have one entry per dimension");
}

json::Value inspectDocumentValue(const InspectDocument& document) { return documentOf(document, format); }

base::Result<InspectDocument> inspectDocumentFrom(const json::Value& value, const std::string& name)
{
    return readDocument<InspectDocument>(value, format, name);
}

}  // namespace hopscope::schema
