#include "schema/findings.h"

#include "schema/described_document.h"
#include "schema/forms.h"

namespace hopscope::schema {

namespace {

constexpr const char* format = "hopscope-findings";

template <base::Described T>
json::Value valueOf(const char* kind, const T& found)
{
    json::Value document = documentOf(found, format);
    document["kind"] = kind;
    return document;
}

template <base::Described T>
base::Result<T> findingsFrom(const json::Value& document, const char* kind, const std::string& name)
{
    const json::Reader root(document, name);
    if (root.get<std::string>("kind") != kind) root.child("kind").refuse("must be '" + std::string(kind) + "'");
    if (!root.ok()) return base::forward(root.status());
    return readDocument<T>(document, format, name);
}

}  // namespace

base::Result<DivergenceRecord> divergenceFrom(const json::Value& document, const std::string& name)
{
    return findingsFrom<DivergenceRecord>(document, "divergence", name);
}

base::Result<NonFiniteReport> nonFiniteFrom(const json::Value& document, const std::string& name)
{
    return findingsFrom<NonFiniteReport>(document, "nan", name);
}

base::Result<WatchReport> watchFrom(const json::Value& document, const std::string& name)
{
    return findingsFrom<WatchReport>(document, "watch", name);
}

json::Value findingsValue(const DivergenceRecord& found) { return valueOf("divergence", found); }
json::Value findingsValue(const NonFiniteReport& found) { return valueOf("nan", found); }
json::Value findingsValue(const WatchReport& found) { return valueOf("watch", found); }

}  // namespace hopscope::schema
