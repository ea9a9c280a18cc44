#pragma once

// Describes the commands and their options as plain data, from which help, completions, the man page and the reference
// page are generated.

#include <string>
#include <vector>

#include "base/names.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace hopscope::engine {

struct OptionText {
    std::vector<std::string> names;  // "-o", "--output"; none for an argument
    std::string value;               // "FILE"; the name of an argument; empty for a flag
    std::string usual;               // the default; empty if there is none
    std::string meaning;
    std::vector<std::string> proposals;  // values that completions offer; if empty, they offer files
    bool required = false, repeated = false;

    [[nodiscard]] bool isArgument() const { return names.empty(); }
    [[nodiscard]] bool isFlag() const { return value.empty(); }
};

struct OptionGroup {
    std::string name;
    std::vector<OptionText> options;
};

struct CommandText {
    std::string name;  // with the names of its parents: "hopscope-engine bench machine"
    std::string purpose;
    std::vector<std::string> examples;
    std::vector<OptionGroup> groups;
    std::vector<CommandText> commands;

    [[nodiscard]] std::vector<OptionText> options() const;  // of all groups
    [[nodiscard]] std::string lastName() const { return name.substr(name.rfind(' ') + 1); }
};

// Describes a command without hidden commands and options. Options that were added before startGroup() form the last
// group, "General".
CommandText commandText(const CLI::App& app);

// Starts a group for the options that are added to the command from now on.
void startGroup(CLI::App& command, const std::string& name);

// Sets the values that completions offer for the option.
void propose(CLI::Option& option, const std::vector<std::string>& values);
template <class E>
void propose(CLI::Option& option)
{
    std::vector<std::string> names;
    for (const base::Named<E>& each : namesOf(E{})) names.emplace_back(each.name);
    propose(option, names);
}
void proposeDevices(CLI::Option& option);

bool takesValue(const CLI::Option& option);

// Returns "hopscope-engine bench machine".
std::string pathOf(const CLI::App& command);

// Returns "hopscope-engine run [OPTIONS] MODEL --data DATA... -o DIR".
std::string usageOf(const CommandText& command);

// Calls `visit` with the command and all commands below it, parents first.
template <class Visit>
void forEachCommand(const CommandText& command, const Visit& visit)
{
    visit(command);
    for (const CommandText& below : command.commands) forEachCommand(below, visit);
}

}  // namespace hopscope::engine
