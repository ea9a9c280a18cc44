#pragma once

// The main function of a model's process.

#include "server/model_process.h"

namespace hopscope::engine {

inline constexpr const char* modelProcessName = "model";

// The first bytes for the process, before any message: the length in eight bytes, then JSON.
std::string orderText(const ModelProcessOrder& order);

}  // namespace hopscope::engine
