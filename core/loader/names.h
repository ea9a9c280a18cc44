#pragma once

// Text helpers: suggestions for misspelt data keys, and messages cut to one line.

#include <string>
#include <string_view>

#include "base/tensor.h"

namespace hopscope::loader::names {

// True if `key` is probably a misspelling of `wanted`: apart from case, separators and a plural s, the two are equal or
// differ in one letter (if the shorter has four to six letters) or up to two (if it is longer).
bool similar(std::string_view key, std::string_view wanted);

// Returns the first key that, up to its first dot, is probably a misspelling of `wanted`; empty if there is none.
std::string nearest(std::string_view wanted, const base::TensorMap& inputs);

// Returns the essential line of a message of LibTorch, at most 300 characters: the first non-empty line or, after a
// traceback of TorchScript, the last one. Of a failed check within LibTorch, only its own message remains.
std::string firstLine(std::string_view text);

}  // namespace hopscope::loader::names
