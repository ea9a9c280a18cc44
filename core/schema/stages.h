#pragma once

#include <vector>

#include "plan/stage_id.h"
#include "json/reader.h"

namespace hopscope::schema {

// The number of a stage; refuses anything below 1.
plan::StageId readStage(const json::Reader& reader);
std::vector<plan::StageId> readStages(const json::Reader& list);

json::Value stageList(const std::vector<plan::StageId>& stages);

}  // namespace hopscope::schema
