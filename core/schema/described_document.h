#pragma once

// Private to schema and protocol: reads and writes described structs as whole documents and messages.

#include <string>

#include "base/result.h"
#include "schema/envelope.h"
#include "json/described.h"

namespace hopscope::schema {

// Returns a document: format and version, then the members of the struct.
template <base::Described T>
json::Value documentOf(const T& described, const std::string& format)
{
    json::Value document = startDocument(format);
    json::writeInto(document, described);
    return document;
}

// Reads a document. Fails with Input and a JSON pointer, also if the document has a different format.
template <base::Described T>
base::Result<T> readDocument(const json::Value& document, const std::string& format, const std::string& name)
{
    const json::Reader root(document, name);
    checkEnvelope(root, format);
    T result = json::readAs<T>(root);
    if (!root.ok()) return base::forward(root.status());
    return result;
}

// Reads the text of a document in the same way.
template <base::Described T>
base::Result<T> parseDocument(const std::string& text, const std::string& format, const std::string& name)
{
    const base::Result<json::Value> document = json::parse(text, name);
    if (!document) return base::forward(document);
    return readDocument<T>(*document, format, name);
}

// Reads a message in the same way, without a format.
template <base::Described T>
base::Result<T> readMessage(const json::Value& message, const std::string& name)
{
    const json::Reader root(message, name);
    T result = json::readAs<T>(root);
    if (!root.ok()) return base::forward(root.status());
    return result;
}

}  // namespace hopscope::schema
