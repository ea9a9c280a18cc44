#pragma once

// Declares the main function of a model's process.

#include "server/model_process.h"

namespace hopscope::engine {

inline constexpr const char* modelProcessName = "model";

// Returns the first bytes for the process, before any message: the length in eight bytes, then JSON.
std::string orderText(const ModelProcessOrder& order);

}  // namespace hopscope::engine
