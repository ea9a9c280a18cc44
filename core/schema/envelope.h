#pragma once

// The beginning of every document: "format": "hopscope-plan", "version": "1.0".

#include <string>

#include "json/json.h"
#include "json/reader.h"

namespace hopscope::schema {

// An object with format and version filled in.
json::Value startDocument(const std::string& format);

// Refuses another format or another major version.
void checkEnvelope(const json::Reader& root, const std::string& format);

}  // namespace hopscope::schema
