#include "cli/command_tree.h"

#include <algorithm>

#include <CLI/CLI.hpp>

namespace hopscope::engine {

namespace {

constexpr const char* ungrouped = "Options";  // the parser's name for it

std::vector<std::string> spellingsOf(const CLI::Option& option)
{
    std::vector<std::string> names;
    for (const std::string& name : option.get_snames()) names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
    return names;
}

std::vector<std::string> proposalsOf(const CLI::Option& option)
{
    const std::string text = option.get_option_text();
    return text.empty() ? std::vector<std::string>() : CLI::detail::split(text, '|');
}

OptionText textOf(const CLI::Option& option)
{
    const bool argument = option.get_positional();
    return {.names = spellingsOf(option),
            .value = argument             ? option.get_name(true)
                     : takesValue(option) ? option.get_type_name()
                                          : "",
            .usual = option.get_default_str(),
            .meaning = option.get_description(),
            .proposals = proposalsOf(option),
            .required = option.get_required(),
            .repeated = option.get_expected_max() > 1};
}

std::vector<OptionGroup> groupsOf(const CLI::App& app)
{
    std::vector<OptionGroup> groups;
    for (const CLI::Option* const option : app.get_options()) {
        const std::string& name = option->get_group();
        if (name.empty()) continue;
        auto group = std::ranges::find(groups, name, &OptionGroup::name);
        if (group == groups.end()) group = groups.insert(group, OptionGroup{.name = name, .options = {}});
        group->options.push_back(textOf(*option));
    }
    const auto general = std::ranges::find(groups, ungrouped, &OptionGroup::name);
    if (general == groups.end()) return groups;
    general->name = "General";
    std::rotate(general, general + 1, groups.end());
    return groups;
}

std::string named(const OptionText& option)
{
    return (option.isArgument() ? "" : option.names.front() + " ") + option.value + (option.repeated ? "..." : "");
}

}  // namespace

std::vector<OptionText> CommandText::options() const
{
    std::vector<OptionText> all;
    for (const OptionGroup& group : groups) all.insert(all.end(), group.options.begin(), group.options.end());
    return all;
}

CommandText commandText(const CLI::App& app)
{
    CommandText text{.name = pathOf(app),
                     .purpose = app.get_description(),
                     .examples = CLI::detail::split(app.get_footer(), '\n'),
                     .groups = groupsOf(app),
                     .commands = {}};
    for (const CLI::App* const command : app.get_subcommands([](const CLI::App*) { return true; }))
        if (!command->get_group().empty()) text.commands.push_back(commandText(*command));
    return text;
}

void startGroup(CLI::App& command, const std::string& name) { command.option_defaults()->group(name); }

void propose(CLI::Option& option, const std::vector<std::string>& values)
{
    option.option_text(CLI::detail::join(values, "|"));
}

void proposeDevices(CLI::Option& option) { propose(option, {"auto", "cpu", "cuda"}); }

bool takesValue(const CLI::Option& option) { return option.get_expected_min() > 0 && option.get_type_size() != 0; }

std::string pathOf(const CLI::App& command)
{
    return (command.get_parent() ? pathOf(*command.get_parent()) + " " : "") + command.get_name();
}

std::string usageOf(const CommandText& command)
{
    std::string text = command.name + " [OPTIONS]";
    if (!command.commands.empty()) return text + " COMMAND";
    for (const bool argument : {true, false})
        for (const OptionText& option : command.options())
            if (option.isArgument() == argument && option.required) text += " " + named(option);
            else if (option.isArgument() && argument) text += " [" + named(option) + "]";
    return text;
}

}  // namespace hopscope::engine
