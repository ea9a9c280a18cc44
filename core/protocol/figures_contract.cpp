#include "protocol/figures_contract.h"

#include <cctype>
#include <sstream>
#include <type_traits>
#include <utility>

#include "plan/figures.h"

namespace hopscope::protocol {

namespace {

constexpr const char* head = R"(# Written by tools/contract from the table in core/plan/figures.h.
"""The figures of a stage that has run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class StageFigures:
    """The figures of a stage, as docs/reference/format-report.md defines them.

    Attributes:
)";

std::string sentence(std::string text)
{
    text[0] = static_cast<char>(std::toupper(text[0]));
    return text + ".";
}

// "name (type): Meaning." in lines of at most 110 characters.
std::string paragraph(const std::string& name, const std::string& meaning)
{
    constexpr std::size_t longest = 110;
    std::string text, line = "        " + name + ":";
    std::istringstream words(sentence(meaning));
    for (std::string word; words >> word; line += " " + word)
        if (line.size() + word.size() >= longest) text += std::exchange(line, "           ") + "\n";
    return text + line + "\n";
}

// "int", "float | None = None", "dict[str, float]".
template <class M>
std::string typeOf(base::Presence presence)
{
    const bool later = presence != base::Presence::Always;
    if constexpr (std::is_same_v<M, plan::PhaseSeconds>) return "dict[str, float]";
    else if constexpr (std::is_same_v<M, plan::Bytes>) return "dict[str, int]";
    else if constexpr (std::is_same_v<M, std::optional<double>>) return "float | None = None";
    else if constexpr (std::is_same_v<M, std::optional<std::int64_t>>) return "int | None = None";
    else if constexpr (std::is_same_v<M, double>) return later ? "float = 0" : "float";
    else return later ? "int = 0" : "int";
}

}  // namespace

std::string pythonFigures()
{
    std::string meanings, members;
    base::forEachField<plan::StageFigures>([&]<class M>(const plan::Figure<M>& figure) {
        const std::string type = typeOf<M>(figure.presence);
        meanings += paragraph(figure.name + std::string(" (") + type.substr(0, type.find(" =")) + ")", figure.meaning);
        members += std::string("    ") + figure.name + ": " + type + "\n";
    });
    return head + meanings + "    \"\"\"\n\n" + members;
}

}  // namespace hopscope::protocol
