#pragma once

// The structure of arguments and results: nested tuples, lists and dictionaries of tensors and numbers (PyTorch's
// pytree), which the file writes as JSON inside a text.

#include <optional>
#include <string>
#include <vector>

#include "loader/exported/members.h"

namespace hopscope::loader::exported {

struct Tree {
    enum class Kind { Leaf, Sequence, Dictionary };
    Kind kind = Kind::Leaf;
    std::vector<std::string> keys;  // keys of a dictionary; a tuple becomes "user__rates__item"
    std::vector<Tree> parts;
};

// Parses a structure; throws Refusal. `place` names the text in messages.
Tree parseTree(const std::string& text, const std::string& place);

// Returns the names of the leaves in order: "x", "x_dict.user", "adjs.0". `in` is the structure of a call, a tuple of
// positional arguments and a dictionary of the others; `names` are those of forward's arguments, which may be missing.
std::vector<std::string> leafNames(const Tree& in, const std::vector<std::string>& names);

}  // namespace hopscope::loader::exported
