#pragma once

// The members that begin every document: "format": "hopscope-plan", "version": "1.0".

#include <string>

#include "json/json.h"
#include "json/reader.h"

namespace hopscope::schema {

// Returns an object with format and version.
json::Value startDocument(const std::string& format);

// Refuses a different format and a different major version.
void checkEnvelope(const json::Reader& root, const std::string& format);

}  // namespace hopscope::schema
