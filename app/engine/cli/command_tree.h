#pragma once

// The commands and their options as plain data. Help, completions, the man page and the reference page are written from it.

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
    std::string value;               // "FILE"; for an argument its name, for a flag empty
    std::string usual;               // the default; empty if there is none
    std::string meaning;
    std::vector<std::string> proposals;  // values that completions offer; without any they offer files
    bool required = false, repeated = false;

    [[nodiscard]] bool isArgument() const { return names.empty(); }
    [[nodiscard]] bool isFlag() const { return value.empty(); }
};

struct OptionGroup {
    std::string name;
    std::vector<OptionText> options;
};

struct CommandText {
    std::string name;  // after the names of the commands above it: "hopscope-engine bench machine"
    std::string purpose;
    std::vector<std::string> examples;
    std::vector<OptionGroup> groups;
    std::vector<CommandText> commands;

    [[nodiscard]] std::vector<OptionText> options() const;  // of all groups
    [[nodiscard]] std::string lastName() const { return name.substr(name.rfind(' ') + 1); }
};

// Without hidden commands and options. Options that were added before startGroup make the last group, "General".
CommandText commandText(const CLI::App& app);

// Options of the command that are added from now on belong to this group.
void startGroup(CLI::App& command, const std::string& name);

// Values that completions offer for the option.
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

// "hopscope-engine bench machine".
std::string pathOf(const CLI::App& command);

// "hopscope-engine run [OPTIONS] MODEL --data DATA... -o DIR".
std::string usageOf(const CommandText& command);

// Calls it with the command and all commands below it, each after the one above it.
template <class Visit>
void forEachCommand(const CommandText& command, const Visit& visit)
{
    visit(command);
    for (const CommandText& below : command.commands) forEachCommand(below, visit);
}

}  // namespace hopscope::engine
