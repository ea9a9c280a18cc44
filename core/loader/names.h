#pragma once

// Small text helpers of the loader: misspelt keys, one-line messages.

#include <string>
#include <string_view>

#include "base/tensor.h"

namespace hopscope::loader::names {

// Whether `key` looks like a slip for `wanted`: other case, plural, underscore, or one or two edits in a long name.
bool similar(std::string_view key, std::string_view wanted);

// The first key that looks like `wanted`; empty if none does.
std::string nearest(std::string_view wanted, const base::TensorMap& inputs);

// The first non-empty line, trimmed, at most 300 characters.
std::string firstLine(std::string_view text);

}  // namespace hopscope::loader::names
