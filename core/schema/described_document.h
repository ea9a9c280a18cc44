#pragma once

// Private to schema and protocol: reads and writes described structs as whole documents and messages.

#include <string>

#include "base/result.h"
#include "schema/envelope.h"
#include "json/described.h"

namespace hopscope::schema {

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
