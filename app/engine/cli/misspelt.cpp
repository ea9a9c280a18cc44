#include "cli/misspelt.h"

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/text.h"
#include "cli/command_tree.h"

namespace hopscope::engine {

namespace {

using Words = std::vector<std::string>;

// Up to a third of its letters may differ, but at least one; the first of several that are equally near.
std::string nearest(const std::string& word, const Words& known)
{
    std::string found;
    std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
    for (const std::string& candidate : known) {
        const std::size_t edits = base::edits(word, candidate);
        if (edits < least) found = candidate, least = edits;
    }
    return found;
}

std::string helpOf(const CLI::App& command) { return "see `" + pathOf(command) + " --help`"; }

// `kind`: "command" or "option".
base::Error unknown(const std::string& kind, const std::string& word, const Words& known, const CLI::App& app)
{
    const std::string near = nearest(word, known);
    const std::string hint = near.empty() ? "" : "did you mean '" + near + "'? ";
    return base::fail(base::ErrorCode::Usage, "unknown " + kind + " '" + word + "'", hint + helpOf(app)).value();
}

auto commandsOf(const CLI::App& app)
{
    return app.get_subcommands([](const CLI::App*) { return true; });
}

Words namesOf(const std::vector<const CLI::App*>& commands)
{
    Words names;
    for (const CLI::App* const command : commands)
        if (!command->get_group().empty()) names.push_back(command->get_name());
    return names;
}

Words optionsOf(const CLI::App& app)
{
    Words names;
    for (const CLI::Option* const option : app.get_options())
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    return names;
}

// "--data" of "--data=graph", "-o" of "-oresults".
std::string optionIn(const std::string& word)
{
    return word.starts_with("--") ? word.substr(0, word.find('=')) : word.substr(0, 2);
}

// Options of commands below this one are misplaced, not misspelt: help explains them.
bool knownBelow(const CLI::App& app, const std::string& name)
{
    return std::ranges::any_of(commandsOf(app), [&](const CLI::App* command) {
        return command->get_option_no_throw(name) != nullptr || knownBelow(*command, name);
    });
}

// The error for a command line in which a command or an option does not exist. `help`: it asks for help or the version.
std::optional<base::Error> misspelt(const CLI::App& app, int count, const char* const* arguments, bool help)
{
    const CLI::App* command = &app;
    for (int i = 1; i < count; ++i) {
        const std::string word = arguments[i], name = optionIn(word);
        if (word == "--") break;
        if (word.starts_with("-") && word != "-") {
            const CLI::Option* const option = command->get_option_no_throw(name);
            if (!option && help && knownBelow(*command, name)) continue;
            if (!option) return unknown("option", name, optionsOf(*command), *command);
            if (name == word && takesValue(*option)) ++i;  // its value
        } else if (const auto commands = commandsOf(*command); !commands.empty()) {
            const auto chosen = std::ranges::find(commands, word, &CLI::App::get_name);
            if (chosen == commands.end()) return unknown("command", word, namesOf(commands), *command);
            command = *chosen;
        }
    }
    return std::nullopt;
}

}  // namespace

base::Result<std::string> explained(const CLI::App& app, const CLI::ParseError& error, int count,
                                    const char* const* arguments)
{
    std::ostringstream text, complaint;
    const bool help = app.exit(error, text, complaint) == 0;
    if (const std::optional<base::Error> wrong = misspelt(app, count, arguments, help)) return tl::unexpected(*wrong);
    if (help) return text.str();
    const CLI::App* chosen = &app;
    while (!chosen->get_subcommands().empty()) chosen = chosen->get_subcommands().front();
    const std::string mistake = error.what();
    const bool none = mistake == "A subcommand is required";
    return base::fail(base::ErrorCode::Usage, none ? "a command is required" : mistake, helpOf(*chosen));
}

}  // namespace hopscope::engine
