#include "loader/names.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace hopscope::loader::names {

namespace {

// Lower case, without separators and without a plural s.
std::string folded(std::string_view name)
{
    std::string out;
    for (const char c : name)
        if (c != '_' && c != '-' && c != ' ')
            out.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
    if (out.size() > 2 && out.back() == 's') out.pop_back();
    return out;
}

std::string_view trimmed(std::string_view text)
{
    const auto isSpace = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
    while (!text.empty() && isSpace(text.front())) text.remove_prefix(1);
    while (!text.empty() && isSpace(text.back())) text.remove_suffix(1);
    return text;
}

// TorchScript begins with the traceback and ends with the error itself.
std::string_view withoutTrace(std::string_view text)
{
    if (!text.starts_with("The following operation failed in the TorchScript interpreter")) return text;
    const std::size_t last = text.rfind('\n');
    text = trimmed(text.substr(last == std::string_view::npos ? 0 : last));
    for (const std::string_view kind : {"RuntimeError: ", "builtins.RuntimeError: "})
        if (text.starts_with(kind)) text.remove_prefix(kind.size());
    return text;
}

// A failed check of LibTorch names a file on the machine that it was built on, and asks to report it to PyTorch.
std::string_view withoutPlace(std::string_view text)
{
    constexpr std::string_view place = "INTERNAL ASSERT FAILED at ", end = "please report a bug to PyTorch.";
    const std::size_t from = text.find(place), to = text.find(end);
    if (from == std::string_view::npos || to == std::string_view::npos || to < from) return text;
    const std::string_view rest = trimmed(text.substr(to + end.size()));
    return rest.empty() ? "a check within PyTorch fails" : rest;
}

}  // namespace

bool similar(std::string_view key, std::string_view wanted)
{
    const std::string a = folded(key), b = folded(wanted);
    if (a == b) return true;
    const std::size_t length = std::min(a.size(), b.size());
    const std::size_t allowed = length >= 7 ? 2 : length >= 4 ? 1 : 0;
    return base::edits(a, b) <= allowed;
}

std::string nearest(std::string_view wanted, const base::TensorMap& inputs)
{
    for (const auto& [key, view] : inputs)
        if (similar(key.substr(0, key.find('.')), wanted)) return key;
    return {};
}

std::string firstLine(std::string_view text)
{
    text = withoutPlace(withoutTrace(trimmed(text)));
    return std::string(trimmed(text.substr(0, std::min<std::size_t>(text.find('\n'), 300))));
}

}  // namespace hopscope::loader::names
