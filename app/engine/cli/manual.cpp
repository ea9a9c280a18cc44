#include "cli/manual.h"

#include "base/failures.h"
#include "cli/help.h"
#include "version.h"

namespace hopscope::engine {

namespace {

// Text of a man page: no character of it is taken for a request or a special character.
std::string roff(const std::string& text)
{
    std::string made = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
    for (const char c : text)
        if (c == '\\') made += "\\e";
        else if (c == '-') made += "\\-";
        else made += c;
    return made;
}

std::string manOption(const OptionText& option)
{
    std::string names;
    for (const std::string& name : option.names) names += (names.empty() ? "\\fB" : ", \\fB") + roff(name) + "\\fR";
    if (!option.value.empty()) names += std::string(names.empty() ? "" : " ") + "\\fI" + roff(option.value) + "\\fR";
    return ".TP\n" + names + "\n" + roff(meaningOf(option)) + "\n";
}

// "bench machine".
std::string withoutProgram(const CommandText& command) { return command.name.substr(command.name.find(' ') + 1); }

std::string manCommand(const CommandText& command)
{
    std::string text = ".SS " + roff(withoutProgram(command)) + "\n" + roff(command.purpose) + ".\n.PP\n" +
                       roff(usageOf(command)) + "\n";
    for (const OptionGroup& group : command.groups) {
        text += ".PP\n\\fB" + roff(group.name) + "\\fR\n";
        for (const OptionText& option : group.options) text += manOption(option);
    }
    text += ".PP\n\\fBExamples\\fR\n.PP\n.EX\n";
    for (const std::string& example : command.examples) text += "  " + roff(example) + "\n";
    return text + ".EE\n";
}

std::string exitStatus()
{
    std::string text = ".TP\n0\nsuccess\n";
    for (const base::Failure& each : base::failures)
        text += ".TP\n" + std::to_string(static_cast<int>(each.code)) + "\n" + roff(each.summary) + "\n";
    return text;
}

std::string manPage(const CommandText& root)
{
    std::string text =
        ".TH HOPSCOPE\\-ENGINE 1 \"\" \"Hopscope " + std::string(versionText) + "\" \"User Commands\"\n" +
        ".SH NAME\nhopscope\\-engine \\- layer\\-wise inference for graph neural networks\n" + ".SH SYNOPSIS\n" +
        roff(usageOf(root)) + "\n.SH DESCRIPTION\n" + roff(root.purpose) + "\n.SH OPTIONS\n";
    for (const OptionText& option : root.options()) text += manOption(option);
    text += ".SH COMMANDS\n";
    forEachCommand(root, [&](const CommandText& command) {
        if (&command != &root) text += manCommand(command);
    });
    return text + ".SH EXIT STATUS\n" + exitStatus();
}

std::string cell(const std::string& text)
{
    std::string made;
    for (const char c : text) made += c == '|' ? "\\|" : std::string(1, c);
    return made;
}

std::string markdownCommand(const CommandText& command)
{
    std::string text =
        "## " + withoutProgram(command) + "\n" + command.purpose + ".\n\n```\n" + usageOf(command) + "\n```\n";
    for (const OptionGroup& group : command.groups) {
        text += "\n| " + group.name + " | |\n|---|---|\n";
        for (const OptionText& option : group.options)
            text += "| `" + headingOf(option) + "` | " + cell(meaningOf(option)) + " |\n";
    }
    text += "\n```\n";
    for (const std::string& example : command.examples) text += example + "\n";
    return text + "```\n\n";
}

std::string markdownPage(const CommandText& root)
{
    std::string text;
    forEachCommand(root, [&](const CommandText& command) {
        if (command.commands.empty()) text += markdownCommand(command);
    });
    return text;
}

}  // namespace

std::string manualText(const CommandText& root, Manual form)
{
    return form == Manual::Man ? manPage(root) : markdownPage(root);
}

}  // namespace hopscope::engine
