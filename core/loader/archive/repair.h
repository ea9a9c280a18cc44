#pragma once

// TorchScript refuses some of its own archives: two branches of an `if` give a variable two types, which its writer did
// not declare. Declaring the variable as a union in front of the `if` makes them load.

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

// Understands the loader's error text; none if it is another error.
std::optional<TypeMismatch> parseTypeMismatch(std::string_view error);

struct Insertion {
    int line = 0;      // the new line's number, from 1
    std::string text;  // without indentation
};

// Inserts the declaration in front of the `if`, at its indentation. None if the line cannot be found.
std::optional<Insertion> declareUnion(std::string& code, const TypeMismatch& mismatch);

}  // namespace hopscope::loader
