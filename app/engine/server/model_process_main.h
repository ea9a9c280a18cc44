#pragma once

// The process of a model itself.

#include "server/model_process.h"

namespace hopscope::engine {

inline constexpr const char* modelProcessName = "model";

// What the process is sent first, before any message: its length in eight bytes and JSON.
std::string orderText(const ModelProcessOrder& order);

}  // namespace hopscope::engine
