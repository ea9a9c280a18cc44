#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/names.h"
#include "cli/command_tree.h"

namespace hopscope::engine {

enum class Manual : std::uint8_t { Man, Markdown };

constexpr auto namesOf(Manual)
{
    return std::to_array<base::Named<Manual>>({{Manual::Man, "man"}, {Manual::Markdown, "markdown"}});
}

// Describes all commands and options: the source of hopscope-engine(1), or the sections of
// docs/reference/command-line.md.
std::string manualText(const CommandText& root, Manual form);

}  // namespace hopscope::engine
