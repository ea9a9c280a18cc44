#pragma once

// Reads and writes settings (base/settings.h) as members of requests and session files.

#include "base/settings.h"
#include "json/reader.h"

namespace hopscope::protocol {

// Reads the settings that the object contains. The others have their defaults, and other members are ignored. The first
// error stays in the reader.
base::Settings readSettings(const json::Reader& object);

// Returns an object with all settings.
json::Value settingsValue(const base::Settings& settings);

// Adds the settings that differ from `usual` to an object, which may have other members.
void writeChanged(json::Value& object, const base::Settings& settings, const base::Settings& usual = {});

}  // namespace hopscope::protocol
