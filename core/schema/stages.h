#pragma once

#include <optional>
#include <string_view>

#include "plan/stage_id.h"
#include "json/reader.h"

namespace hopscope::schema {

// The number of a stage; refuses anything below 1.
plan::StageId readStage(const json::Reader& reader);
// None where the member is missing or null.
std::optional<plan::StageId> maybeStage(const json::Reader& item, std::string_view key);
std::vector<plan::StageId> readStages(const json::Reader& list);

json::Value stageOrNull(const std::optional<plan::StageId>& stage);
json::Value stageList(const std::vector<plan::StageId>& stages);

}  // namespace hopscope::schema
