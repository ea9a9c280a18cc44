#pragma once

// Loads models with methods but without forward, such as autoencoders with encode and decode.

#include "loader/loader.h"

namespace hopscope::loader {

// Loads such a model as load() does. The result can only be passed to readCode(), which reads its methods.
base::Result<Model> loadMethods(const std::string& path);

}  // namespace hopscope::loader
