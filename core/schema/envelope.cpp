#include "schema/envelope.h"

namespace hopscope::schema {

namespace {

constexpr const char* version = "1.0";

std::string majorOf(const std::string& text) { return text.substr(0, text.find('.')); }

}  // namespace

json::Value startDocument(const std::string& format)
{
    json::Value document = json::Value::object();
    document["format"] = format;
    document["version"] = version;
    return document;
}

void checkEnvelope(const json::Reader& root, const std::string& format)
{
    const auto found = root.get<std::string>("format");
    if (root.ok() && found != format) root.child("format").refuse("is '" + found + "', not '" + format + "'");
    const auto written = root.get<std::string>("version");
    if (root.ok() && majorOf(written) != majorOf(version))
        root.child("version").refuse("is '" + written + "'; this program reads version " + majorOf(version));
}

}  // namespace hopscope::schema
