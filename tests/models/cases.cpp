#include "models/cases.h"

#include <fstream>
#include <functional>
#include <map>

namespace hopscope::models {

namespace {

std::vector<std::string> split(const std::string& text, char separator)
{
    std::vector<std::string> parts;
    std::size_t start = 0;
    while (start <= text.size()) {
        const std::size_t end = std::min(text.find(separator, start), text.size());
        if (end > start) parts.push_back(text.substr(start, end - start));
        start = end + 1;
    }
    return parts;
}

// "ok", "refuse" or "either".
Expectation expectation(const std::string& text)
{
    if (text == "either") return Expectation::Either;
    return text == "refuse" ? Expectation::Refused : Expectation::Equal;
}

Graph& graphAt(Case& c, std::size_t index)
{
    c.graphs.resize(std::max(c.graphs.size(), index + 1));
    return c.graphs[index];
}

std::vector<std::int64_t> numbers(const std::string& text)
{
    std::vector<std::int64_t> list;
    for (const std::string& part : split(text, ',')) list.push_back(std::stoll(part));
    return list;
}

using Setter = std::function<void(Case&, const std::string&)>;

const std::map<std::string, Setter>& setters()
{
    static const std::map<std::string, Setter> table{
        {"name", [](Case& c, const std::string& v) { c.name = v; }},
        {"model", [](Case& c, const std::string& v) { c.model = v; }},
        {"expect", [](Case& c, const std::string& v) { c.expectation = expectation(v); }},
        {"reason", [](Case& c, const std::string& v) { c.reasons = split(v, '|'); }},
        {"hint", [](Case& c, const std::string& v) { c.hint = v; }},
        {"no_optimum", [](Case& c, const std::string& v) { c.noOptimum = v; }},
        {"roles", [](Case& c, const std::string& v) { c.roles = split(v, ';'); }},
        {"data0", [](Case& c, const std::string& v) { graphAt(c, 0).data = v; }},
        {"data1", [](Case& c, const std::string& v) { graphAt(c, 1).data = v; }},
        {"expected0", [](Case& c, const std::string& v) { graphAt(c, 0).expected = v; }},
        {"expected1", [](Case& c, const std::string& v) { graphAt(c, 1).expected = v; }},
        {"batches", [](Case& c, const std::string& v) { c.batches = numbers(v); }},
        {"stages", [](Case& c, const std::string& v) { c.stages = std::stoi(v); }},
        {"prologue", [](Case& c, const std::string& v) { c.prologue = v == "1"; }},
        {"peaks", [](Case& c, const std::string& v) { c.peaks = v == "1"; }},
        {"gpu", [](Case& c, const std::string& v) { c.gpu = v == "1"; }},
        {"quick", [](Case& c, const std::string& v) { c.quick = v == "1"; }},
        {"shuffle", [](Case& c, const std::string& v) { c.shuffle = v == "1"; }},
        {"relative", [](Case& c, const std::string& v) { c.tolerance.relative = std::stod(v); }},
        {"absolute", [](Case& c, const std::string& v) { c.tolerance.absolute = std::stod(v); }},
        {"accuracy", [](Case& c, const std::string& v) { c.accuracy = std::stod(v); }},
    };
    return table;
}

base::Result<Case> readCase(const std::string& line)
{
    Case result;
    for (const std::string& field : split(line, '\t')) {
        const std::size_t equals = field.find('=');
        const auto setter = setters().find(field.substr(0, equals));
        if (equals == std::string::npos || setter == setters().end())
            return base::fail(base::ErrorCode::Input, "unknown field '" + field + "'");
        setter->second(result, field.substr(equals + 1));
    }
    if ((result.expectation == Expectation::Refused) == result.reasons.empty())
        return base::fail(base::ErrorCode::Input,
                          "'" + result.name + "': a refusal has a reason, and nothing else has");
    return result;
}

}  // namespace

base::Result<std::vector<Case>> readCases(const std::string& path)
{
    std::ifstream file(path);
    if (!file) return base::fail(base::ErrorCode::Input, "no list of models at " + path);
    std::vector<Case> cases;
    for (std::string line; std::getline(file, line);) {
        if (line.empty()) continue;
        auto one = readCase(line);
        if (!one) return base::forward(one);
        one->list = path;
        cases.push_back(std::move(*one));
    }
    return cases;
}

}  // namespace hopscope::models
