#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/names.h"
#include "cli/command_tree.h"

namespace hopscope::engine {

enum class Shell : std::uint8_t { Bash, Zsh, Fish };

constexpr auto namesOf(Shell)
{
    return std::to_array<base::Named<Shell>>({{Shell::Bash, "bash"}, {Shell::Zsh, "zsh"}, {Shell::Fish, "fish"}});
}

// Returns a script for the shell that completes the commands, their options and proposed values, and files everywhere
// else.
std::string completionScript(const CommandText& root, Shell shell);

}  // namespace hopscope::engine
