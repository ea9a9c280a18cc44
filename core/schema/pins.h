#pragma once

// Writes pins, and reads them from documents, requests and files (json/pin.h). Readers check that the model has their
// values.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/plan.h"
#include "schema/names.h"
#include "json/reader.h"

namespace hopscope::schema {

json::Value writePin(const plan::Pin& pin);
json::Value writePins(const std::vector<plan::Pin>& pins);

// Returns the value that a name refers to; nullopt if there is none.
using FindValue = std::function<std::optional<ir::ValueId>(const std::string&)>;

// Read pins. Refuse a malformed pin, an unknown kind, a value that is not found, and a stage below 1.
plan::Pin readPin(const json::Reader& item, const FindValue& find);
std::vector<plan::Pin> readPins(const json::Reader& list, const FindValue& find);
std::vector<plan::Pin> readPins(const json::Reader& list, const Names& names);

// Reads a file {"pins": [..], "model_sha256": ".."}. The hash may be missing. Fails with Input if the text is not such
// an object, has other members, or contains a pin that is refused or a hash that is not `modelHash`.
base::Result<std::vector<plan::Pin>> readPinsFile(const std::string& text, const analysis::Analysis& analysis,
                                                  const std::string& file, const std::string& modelHash);

}  // namespace hopscope::schema
