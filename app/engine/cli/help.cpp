#include "cli/help.h"

#include <algorithm>
#include <sstream>

#include "base/failures.h"

namespace hopscope::engine {

namespace {

constexpr std::size_t lineWidth = 100;

struct Row {
    std::string name, text;
};

// The text in lines; those after the first begin with `indent` blanks.
std::string wrapped(const std::string& text, std::size_t indent)
{
    std::istringstream words(text);
    std::string made, line, word;
    while (words >> word) {
        if (!line.empty() && indent + line.size() + 1 + word.size() > lineWidth) {
            made += line + "\n" + std::string(indent, ' ');
            line.clear();
        }
        line += (line.empty() ? "" : " ") + word;
    }
    return made + line + "\n";
}

std::string rendered(const std::vector<Row>& rows, std::size_t width)
{
    std::string text;
    for (const Row& row : rows)
        text += "  " + row.name + std::string(width - row.name.size() + 2, ' ') + wrapped(row.text, width + 4);
    return text;
}

std::vector<Row> rowsOf(const OptionGroup& group)
{
    std::vector<Row> rows;
    for (const OptionText& option : group.options) rows.push_back({headingOf(option), meaningOf(option)});
    return rows;
}

std::vector<Row> rowsOf(const std::vector<CommandText>& commands)
{
    std::vector<Row> rows;
    for (const CommandText& command : commands) rows.push_back({command.lastName(), command.purpose});
    return rows;
}

std::string exitCodes()
{
    std::string text = "Exit codes: 0 success";
    for (const base::Failure& each : base::failures)
        text += ", " + std::to_string(static_cast<int>(each.code)) + " " + each.summary;
    return wrapped(text + ".", 0);
}

}  // namespace

std::string headingOf(const OptionText& option)
{
    std::string text;
    for (const std::string& name : option.names) text += (text.empty() ? "" : ", ") + name;
    return text + (option.isArgument() || option.isFlag() ? "" : " ") + option.value;
}

std::string meaningOf(const OptionText& option)
{
    std::string text = option.meaning;
    if (option.required && !option.isArgument()) text += " (required)";
    if (!option.usual.empty()) text += " [default: " + option.usual + "]";
    return text;
}

std::string helpText(const CommandText& command)
{
    std::vector<std::pair<std::string, std::vector<Row>>> sections;
    if (!command.commands.empty()) sections.emplace_back("Commands", rowsOf(command.commands));
    for (const OptionGroup& group : command.groups) sections.emplace_back(group.name, rowsOf(group));
    std::size_t width = 0;
    for (const auto& [title, rows] : sections)
        for (const Row& row : rows) width = std::max(width, row.name.size());
    std::string text = command.purpose + "\n\nUsage: " + usageOf(command) + "\n\n";
    for (const auto& [title, rows] : sections) text += title + ":\n" + rendered(rows, width);
    if (!command.commands.empty()) text += "\n" + exitCodes();
    text += "\nExamples:\n";
    for (const std::string& example : command.examples) text += "  " + example + "\n";
    return text;
}

}  // namespace hopscope::engine
