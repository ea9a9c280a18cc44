#include "base/settings.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/units.h"

namespace hopscope::base {

namespace {

template <class N>
std::string numberText(const std::optional<N>& value)
{
    return value ? std::to_string(*value) : std::string();
}

template <class N>
std::optional<N> numberFrom(const std::string& text)
{
    N number{};
    const char* const end = text.data() + text.size();
    const auto [stop, problem] = std::from_chars(text.data(), end, number);
    return problem == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

bool isUnset(const std::string& text) { return text.empty() || text == "auto"; }

Status wrong(const std::string& text, const NumberRule& rule, const std::string& what)
{
    return fail(ErrorCode::Usage, rule.option + ": '" + text + "' is neither auto nor " + what);
}

std::string wholeNumbers(const NumberRule& rule)
{
    return rule.most > 0 ? "a whole number from 1 to " + std::to_string(static_cast<std::int64_t>(rule.most))
                         : std::string("a positive whole number");
}

Result<std::optional<std::int64_t>> wholeFrom(const std::string& text, const NumberRule& rule)
{
    if (isUnset(text)) return std::optional<std::int64_t>();
    const std::optional<std::int64_t> number = numberFrom<std::int64_t>(text);
    const bool fits = number && *number >= 1 && (rule.most <= 0 || static_cast<double>(*number) <= rule.most);
    if (fits) return number;
    return forward(wrong(text, rule, wholeNumbers(rule)));
}

Result<std::optional<std::int64_t>> bytesFrom(const std::string& text, const NumberRule& rule)
{
    if (isUnset(text)) return std::optional<std::int64_t>();
    const Result<std::int64_t> bytes = parseSize(text);
    if (!bytes) return fail(ErrorCode::Usage, rule.option + ": " + bytes.error().message, bytes.error().hint);
    if (*bytes < 1) return fail(ErrorCode::Usage, rule.option + ": must be at least 1 byte");
    return std::optional(*bytes);
}

}  // namespace

std::string settingText(const std::string& value) { return value; }

std::string settingText(bool value) { return value ? "yes" : "no"; }

std::string settingText(std::optional<int> value) { return numberText(value); }

std::string settingText(std::optional<std::int64_t> value) { return numberText(value); }

std::string settingText(std::optional<double> value) { return value ? formatNumber(*value) : std::string(); }

std::string settingText(const std::vector<Fuse>& value)
{
    if (value == allFuse()) return "all";
    std::string text;
    for (const Fuse each : value) text += (text.empty() ? "" : ",") + std::string(nameOf(each));
    return text.empty() ? "none" : text;
}

Status readSettingText(const std::string& text, const NumberRule& /*rule*/, std::string& into)
{
    into = text;
    return {};
}

Status readSettingText(const std::string& text, const NumberRule& rule, bool& into)
{
    if (text != "yes" && text != "no")
        return fail(ErrorCode::Usage, rule.option + ": '" + text + "' is neither yes nor no");
    into = text == "yes";
    return {};
}

Status readSettingText(const std::string& text, const NumberRule& rule, std::optional<int>& into)
{
    const Result<std::optional<std::int64_t>> number = wholeFrom(text, rule);
    if (!number) return forward(number);
    into = *number ? std::optional(static_cast<int>(**number)) : std::nullopt;
    return {};
}

Status readSettingText(const std::string& text, const NumberRule& rule, std::optional<std::int64_t>& into)
{
    const auto number = rule.quantity == Quantity::Bytes ? bytesFrom(text, rule) : wholeFrom(text, rule);
    if (!number) return forward(number);
    into = *number;
    return {};
}

Status readSettingText(const std::string& text, const NumberRule& rule, std::optional<double>& into)
{
    into = std::nullopt;
    if (isUnset(text)) return {};
    const std::optional<double> number = numberFrom<double>(text);
    if (!number || !(*number > 0) || std::isinf(*number)) return wrong(text, rule, "a number of seconds above 0");
    into = number;
    return {};
}

Status readSettingText(const std::string& text, const NumberRule& rule, std::vector<Fuse>& into)
{
    const Result<std::vector<Fuse>> fuse = parseFuse(text);
    if (!fuse) return fail(ErrorCode::Usage, rule.option + ": " + fuse.error().message, fuse.error().hint);
    into = *fuse;
    return {};
}

Settings usualFor(Task task)
{
    Settings usual;
    if (task == Task::Export) usual.objective = Objective::Bytes;
    return usual;
}

Renews renewedBy(const Settings& before, const Settings& after)
{
    Renews renews = Renews::Nothing;
    forEachField<Settings>([&](const auto& setting) {
        if (before.*setting.member != after.*setting.member) renews = std::max(renews, setting.renews);
    });
    return renews;
}

Settings forTask(const Settings& settings, Task task)
{
    Settings taken = usualFor(task);
    forEachField<Settings>([&](const auto& setting) {
        if (setting.tasks.contain(task)) taken.*setting.member = settings.*setting.member;
    });
    return taken;
}

std::string optionOf(const char* setting)
{
    std::string option = std::string("--") + setting;
    std::ranges::replace(option, '_', '-');
    return option;
}

}  // namespace hopscope::base
