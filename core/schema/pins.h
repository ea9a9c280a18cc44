#pragma once

// Pins as documents, requests and files write them (json/pin.h), with the values of a model.

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

// The value that a name stands for; nullopt if there is none.
using FindValue = std::function<std::optional<ir::ValueId>(const std::string&)>;

// Strict: an unknown kind, a value that is not found and a stage below 1 are refused at their place.
plan::Pin readPin(const json::Reader& item, const FindValue& find);
std::vector<plan::Pin> readPins(const json::Reader& list, const FindValue& find);
std::vector<plan::Pin> readPins(const json::Reader& list, const Names& names);

// A file {"pins": [..], "model_sha256": ".."}. The hash may be missing. A hash other than `modelHash` and unknown
// members are refused with Input.
base::Result<std::vector<plan::Pin>> readPinsFile(const std::string& text, const analysis::Analysis& analysis,
                                                  const std::string& file, const std::string& modelHash);

}  // namespace hopscope::schema
