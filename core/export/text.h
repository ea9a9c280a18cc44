#pragma once

// Private to export: code in two spellings with the same meaning. Python names the overloads of operators, and dtypes.
// The TorchScript compiler of LibTorch knows neither; it finds the overload by the arguments.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hopscope::exporter {

struct Text {
    std::string python, script;

    Text() = default;
    Text(const char* both) : python(both), script(both) {}
    Text(std::string both) : python(both), script(std::move(both)) {}
    Text(std::string p, std::string s) : python(std::move(p)), script(std::move(s)) {}

    Text& operator+=(const Text& other)
    {
        python += other.python;
        script += other.script;
        return *this;
    }
    friend Text operator+(Text a, const Text& b) { return a += b; }
    bool operator==(const Text&) const = default;
};

// Returns "a, b, c".
Text joined(const std::vector<Text>& items);
// Returns "[a, b]".
Text listed(const std::vector<Text>& items);

// Returns the shortest decimal that is read as the same number. Infinities and NaN are calls such as float("inf").
std::string realText(double number);

// Makes a text of the model safe for a comment, a docstring or a Markdown table. The result is one line. It contains no
// line separators, control characters, marks of writing direction, or characters that end a string, a cell or an
// escape.
std::string plain(const std::string& text);

// Returns a string literal that is valid in both spellings. `text` must not contain quotation marks.
std::string quoted(const std::string& text);

// Converts the readable name of a value to a name for a variable: "conv1.lin output" becomes conv1_lin_output.
std::string identifier(std::string_view label);

// Returns all names in a piece of code, except those in string literals and of attributes. Some are not variables.
// String literals must not contain quotation marks.
std::vector<std::string> namesIn(std::string_view code);

}  // namespace hopscope::exporter
