#pragma once

// Repairs archives that TorchScript has written but cannot read, because a variable has different types in the two
// branches of an `if`. They load if the variable is declared as a union of both types before the `if`.

#include <optional>
#include <string>
#include <string_view>

namespace hopscope::loader {

struct TypeMismatch {  // "Type mismatch: V is set to type A in the true branch and type B in the false branch"
    std::string variable;
    std::string types[2];
    std::string record;  // "code/__torch__/model.py", without the root folder
    int line = 0;        // as reported, from 1
    std::string branch;  // the text of the `if` line, trimmed
};

// Parses an error message of LibTorch; nullopt if it is a different error.
std::optional<TypeMismatch> parseTypeMismatch(std::string_view error);

struct Insertion {
    int line = 0;      // number of the new line, from 1
    std::string text;  // without indentation
};

// Inserts the declaration before the `if`, with its indentation. Returns nullopt if the line is not found.
std::optional<Insertion> declareUnion(std::string& code, const TypeMismatch& mismatch);

}  // namespace hopscope::loader
