#include "schema/graph_part.h"

#include "schema/described_document.h"
#include "json/described.h"

namespace hopscope::schema {

constexpr const char* format = "hopscope-graph-part";

static void checkRead(const PartRelation& relation, const json::Reader& item)
{
    if (relation.fromIds.size() != relation.toIds.size()) item.child("to_ids").refuse("must be as long as from_ids");
}

json::Value graphPartValue(const GraphPart& part) { return documentOf(part, format); }

base::Result<GraphPart> graphPartFrom(const json::Value& document, const std::string& name)
{
    return readDocument<GraphPart>(document, format, name);
}

}  // namespace hopscope::schema
