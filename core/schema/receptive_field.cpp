#include "schema/receptive_field.h"

#include "schema/described_document.h"

namespace hopscope::schema {

constexpr const char* format = "hopscope-receptive-field";

static void checkRead(const FieldEdges& edges, const json::Reader& item)
{
    if (edges.fromIds.size() != edges.toIds.size()) item.child("to_ids").refuse("must be as long as from_ids");
}

json::Value receptiveFieldValue(const ReceptiveField& field) { return documentOf(field, format); }

std::string writeReceptiveField(const ReceptiveField& field) { return json::write(receptiveFieldValue(field), true); }

base::Result<ReceptiveField> receptiveFieldFrom(const json::Value& document, const std::string& name)
{
    return readDocument<ReceptiveField>(document, format, name);
}

}  // namespace hopscope::schema
