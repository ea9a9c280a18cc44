#pragma once

// Settings (base/settings.h) as members of requests and of session files.

#include "base/settings.h"
#include "json/reader.h"

namespace hopscope::protocol {

// The settings of the task that the object names; the others have their defaults. Members that are not settings are
// ignored. The first error stays in the reader.
base::Settings readSettings(const json::Reader& object, base::Task task);
// All settings that the object names.
base::Settings readSettings(const json::Reader& object);

// All of them.
json::Value settingsValue(const base::Settings& settings);

// Those that differ from `usual`, into an object that may have other members.
void writeChanged(json::Value& object, const base::Settings& settings, const base::Settings& usual = {});

}  // namespace hopscope::protocol
