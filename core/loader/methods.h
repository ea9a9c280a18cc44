#pragma once

// Loads models without a forward that Hopscope supports, such as autoencoders with encode and decode.

#include "loader/loader.h"

namespace hopscope::loader {

// Loads a model as load() does, but does not look for forward. The result can only be passed to readCode(), which reads
// its methods.
base::Result<Model> loadMethods(const std::string& path);

}  // namespace hopscope::loader
