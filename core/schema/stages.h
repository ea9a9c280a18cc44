#pragma once

#include "plan/stage_id.h"
#include "json/reader.h"

namespace hopscope::schema {

// The number of a stage; refuses anything below 1.
plan::StageId readStage(const json::Reader& reader);

}  // namespace hopscope::schema
