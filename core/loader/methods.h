#pragma once

// Models with methods but without forward, such as autoencoders with encode and decode.

#include "loader/loader.h"

namespace hopscope::loader {

// As load(), of such a model: for readCode(), which then reads all of its methods, and nothing else.
base::Result<Model> loadMethods(const std::string& path);

}  // namespace hopscope::loader
