#pragma once

// Models with methods but without forward, such as autoencoders with encode and decode.

#include "loader/loader.h"

namespace hopscope::loader {

// Loads such a model like load(); the result only serves readCode(), which reads all of its methods.
base::Result<Model> loadMethods(const std::string& path);

}  // namespace hopscope::loader
