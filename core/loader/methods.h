#pragma once

// Models with methods but without forward, such as autoencoders with encode and decode.

#include "loader/loader.h"

namespace hopscope::loader {

// As load(), for such a model, which is then only good for readCode(): that reads all of its methods.
base::Result<Model> loadMethods(const std::string& path);

}  // namespace hopscope::loader
