#pragma once

#include "plan/stage_id.h"
#include "json/reader.h"

namespace hopscope::schema {

// Reads the number of a stage. Refuses numbers below 1.
plan::StageId readStage(const json::Reader& reader);

}  // namespace hopscope::schema
