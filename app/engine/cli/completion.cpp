#include "cli/completion.h"

namespace hopscope::engine {

namespace {

std::string joined(const std::vector<std::string>& words, const std::string& between = " ")
{
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
    return text;
}

// For single quotes, in which the shell still needs a backslash before the `special` characters.
std::string escaped(const std::string& text, const std::string& special, const std::string& apostrophe)
{
    std::string made;
    for (const char c : text)
        if (c == '\'') made += apostrophe;
        else made += (special.find(c) == std::string::npos ? "" : "\\") + std::string(1, c);
    return made;
}

// The words after the program: " bench machine"; "" for the program itself.
std::string below(const CommandText& root, const CommandText& command) { return command.name.substr(root.name.size()); }

std::vector<std::string> optionNames(const CommandText& command)
{
    std::vector<std::string> names;
    for (const OptionText& option : command.options())
        names.insert(names.end(), option.names.begin(), option.names.end());
    return names;
}

// The commands that may follow, or the values of the first argument.
std::vector<std::string> firstWords(const CommandText& command)
{
    std::vector<std::string> words;
    for (const CommandText& next : command.commands) words.push_back(next.lastName());
    for (const OptionText& option : command.options())
        if (option.isArgument() && words.empty()) words = option.proposals;
    return words;
}

// --- bash

// "' run -o'|' run --output') proposals ;;": a pattern for each option with a value.
std::string bashValues(const std::string& at, const CommandText& command)
{
    std::string text;
    for (const OptionText& option : command.options()) {
        if (option.isArgument() || option.isFlag()) continue;
        std::vector<std::string> patterns;
        for (const std::string& name : option.names) patterns.push_back("'" + at + " " + name + "'");
        text += "        " + joined(patterns, "|") + ") words='" + joined(option.proposals) + "' ;;\n";
    }
    return text;
}

std::string bashScript(const CommandText& root)
{
    std::string commands, values, words;
    forEachCommand(root, [&](const CommandText& command) {
        const std::string at = below(root, command);
        if (!at.empty()) commands += (commands.empty() ? "'" : "|'") + at + "'";
        values += bashValues(at, command);
        words += "                '" + at + "') words='" + joined(firstWords(command)) + "' options='" +
                 joined(optionNames(command)) + "' ;;\n";
    });
    return R"(_hopscope_engine() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} at= word words= options=
    [[ $current == = ]] && current=  # bash splits --option=value at the sign
    [[ $previous == = ]] && previous=${COMP_WORDS[COMP_CWORD-2]}
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case "$at $word" in
            )" +
           commands + R"() at+=" $word" ;;
        esac
    done
    case "$at $previous" in
)" + values +
           R"(        *)
            case "$at" in
)" + words +
           R"(            esac
            [[ $current == -* ]] && words=$options ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -o default -F _hopscope_engine hopscope-engine
)";
}

// --- zsh

std::string zshText(const std::string& text) { return escaped(text, "\\[]:$`", "'\\''"); }

std::string zshFunction(const std::string& name)
{
    std::string made = "_" + name;
    for (char& c : made)
        if (c == ' ' || c == '-') c = '_';
    return made;
}

std::string zshValue(const OptionText& option)
{
    const std::string values = option.proposals.empty() ? "_files" : "(" + joined(option.proposals) + ")";
    return ":" + option.value + ":" + values;
}

// The arguments that tell _arguments about an option: '*--data=[Inputs of the model]:DATA:_files'.
std::string zshOption(const OptionText& option)
{
    if (option.isArgument()) return " '" + std::string(option.repeated ? "*" : "1") + zshValue(option) + "'";
    const std::string others = option.repeated ? "*" : option.names.size() > 1 ? "(" + joined(option.names) + ")" : "";
    std::string text;
    for (const std::string& name : option.names) {
        const std::string assigned = option.isFlag() ? "" : name.starts_with("--") ? "=" : "+";
        text += " \\\n        '" + others + name + assigned + "[" + zshText(option.meaning) + "]" +
                (option.isFlag() ? "" : zshValue(option)) + "'";
    }
    return text;
}

std::string zshCommand(const CommandText& command)
{
    std::string text = zshFunction(command.name) + "() {\n";
    const bool leads = !command.commands.empty();
    if (leads) text += "    local curcontext=$curcontext line state\n    local -a commands\n";
    text += std::string("    _arguments") + (leads ? " -C" : "");
    for (const OptionText& option : command.options()) text += zshOption(option);
    if (!leads) return text + "\n}\n";
    text += " \\\n        '1:command:->command' '*::argument:->argument'\n    case $state in\n    command)\n        "
            "commands=(";
    for (const CommandText& next : command.commands)
        text += "\n            '" + next.lastName() + ":" + zshText(next.purpose) + "'";
    text += ")\n        _describe command commands ;;\n    argument)\n        case $line[1] in\n";
    for (const CommandText& next : command.commands)
        text += "        " + next.lastName() + ") " + zshFunction(next.name) + " ;;\n";
    return text + "        esac ;;\n    esac\n}\n";
}

std::string zshScript(const CommandText& root)
{
    std::string text = "#compdef hopscope-engine\n";
    forEachCommand(root, [&](const CommandText& command) { text += zshCommand(command); });
    return text + "if [[ $funcstack[1] == _hopscope-engine ]]; then _hopscope_engine \"$@\"\n"
                  "else compdef _hopscope_engine hopscope-engine; fi\n";
}

// --- fish

std::string fishQuoted(const std::string& text) { return "'" + escaped(text, "\\", "\\'") + "'"; }

std::string fishOption(const std::string& condition, const OptionText& option)
{
    std::string text = "complete -c hopscope-engine -n '" + condition + "'";
    for (const std::string& name : option.names)
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    if (!option.proposals.empty())
        text += (option.isArgument() ? " -f -a '" : " -x -a '") + joined(option.proposals) + "'";
    else if (!option.isFlag()) text += " -r -F";
    return text + " -d " + fishQuoted(option.meaning) + "\n";
}

std::string fishCommand(const CommandText& root, const CommandText& command)
{
    std::string text;
    const std::string at = below(root, command);
    for (const CommandText& next : command.commands)
        text += "complete -c hopscope-engine -n '__hopscope_engine_ends" + at + "' -f -a " + next.lastName() + " -d " +
                fishQuoted(next.purpose) + "\n";
    for (const OptionText& option : command.options())
        if (!option.isArgument() || !option.proposals.empty())
            text += fishOption((at.empty() ? "__hopscope_engine_ends" : "__hopscope_engine_begins") + at, option);
    return text;
}

std::string fishScript(const CommandText& root)
{
    std::string text = R"(# Whether the words between the program and the cursor are these, or begin with these.
function __hopscope_engine_ends
    set -l words (commandline -opc)
    set -e words[1]
    test "$words" = "$argv"
end
function __hopscope_engine_begins
    set -l words (commandline -opc)
    set -e words[1]
    set -l last (count $argv)
    test "$words[1..$last]" = "$argv"
end
)";
    forEachCommand(root, [&](const CommandText& command) { text += fishCommand(root, command); });
    return text;
}

}  // namespace

std::string completionScript(const CommandText& root, Shell shell)
{
    const std::string name = base::nameOf(shell);
    std::string text = shell == Shell::Bash  ? bashScript(root)
                       : shell == Shell::Zsh ? zshScript(root)
                                             : fishScript(root);
    const std::string origin = "# Written by hopscope-engine completion " + name + ".\n";
    return shell == Shell::Zsh ? text.insert(text.find('\n') + 1, origin) : origin + text;
}

}  // namespace hopscope::engine
