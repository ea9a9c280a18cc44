#pragma once

// Text helpers: suggestions for misspelt data keys, and messages cut to one line.

#include <string>
#include <string_view>

#include "base/tensor.h"

namespace hopscope::loader::names {

// True if `key` is probably a misspelling of `wanted`: it differs in case, a plural s, underscores, or, for long names,
// one or two letters.
bool similar(std::string_view key, std::string_view wanted);

// The first key that is probably a misspelling of `wanted`; empty if there is none.
std::string nearest(std::string_view wanted, const base::TensorMap& inputs);

// The sentence of a message of LibTorch, at most 300 characters: its first non-empty line, or the last one after a traceback of
// TorchScript, without the location in LibTorch's sources.
std::string firstLine(std::string_view text);

}  // namespace hopscope::loader::names
