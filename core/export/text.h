#pragma once

// Private to export: code in two spellings with the same meaning. Python calls operators by their overload and dtypes
// by their name; the TorchScript compiler of LibTorch knows neither, but finds the overload by the arguments.

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

// "a, b, c".
Text joined(const std::vector<Text>& items);
// "[a, b]".
Text listed(const std::vector<Text>& items);

// The shortest decimal that reads back as the same number; infinities and NaN as float("inf").
std::string realText(double number);

// A text of the model as a part of a comment, a doc string or a table of Markdown: one line, without anything that a
// reader of code or text takes for a line end, control characters, marks that change the direction of writing, and
// characters that end a string, a cell or an escape.
std::string plain(const std::string& text);

// A text in quotation marks that both spellings read; there is no quotation mark within.
std::string quoted(const std::string& text);

// A name for a variable, from a value's readable name: "conv1.lin output" becomes conv1_lin_output.
std::string identifier(std::string_view label);

// All names in a piece of code, except in texts and attributes; some are not variables. Texts hold no quotation mark.
std::vector<std::string> namesIn(std::string_view code);

}  // namespace hopscope::exporter
