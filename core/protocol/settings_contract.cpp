#include "protocol/settings_contract.h"

#include "base/settings.h"
#include "json/json.h"

namespace hopscope::protocol {

namespace {

using base::Setting;
using base::Settings;

constexpr const char* pythonHead = R"(# Written by tools/contract from the table in core/base/settings.h.
"""The settings of the engine's commands: their names, values, defaults and meanings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict

from ._options import Count, DeviceName, Flag, Folder, Patterns, Seconds, Setting, Size

if TYPE_CHECKING:
    import torch

)";

std::string python(const std::string& text) { return json::write(json::Value(text)); }

std::string pythonFlag(bool value) { return value ? "True" : "False"; }

template <class M>
std::string pythonDefault(const M& value)
{
    if constexpr (std::same_as<M, bool>) return pythonFlag(value);
    else {
        const std::string text = base::settingText(value);
        return text.empty() ? "None" : python(text);
    }
}

template <class M>
const char* kindOf(const Setting<M>& setting)
{
    if (std::is_enum_v<M>) return "Choice";
    if (std::same_as<M, bool>) return "Flag";
    if (setting.kind == base::TextKind::Device) return "DeviceName";
    if (setting.kind == base::TextKind::Folder) return "Folder";
    if (setting.quantity == base::Quantity::Bytes) return "Size";
    if (setting.quantity == base::Quantity::Seconds) return "Seconds";
    return setting.quantity == base::Quantity::Count ? "Count" : "Patterns";
}

template <class E>
std::string pythonNames()
{
    std::string text;
    for (const auto& each : namesOf(E{})) text += (text.empty() ? "" : ", ") + python(each.name);
    return text;
}

template <class M>
std::string choicesOf()
{
    if constexpr (std::is_enum_v<M>) return "(" + pythonNames<M>() + ")";
    else if constexpr (std::same_as<M, base::FuseSetting>)
        return R"(("all", "none", )" + pythonNames<base::Fuse>() + ")";
    else return "()";
}

// The annotation of a setting; `verify` may be a truth value, and `store` a dtype of PyTorch.
template <class M>
std::string pythonType(const Setting<M>& setting)
{
    if constexpr (std::is_enum_v<M>) {
        const char* more = std::same_as<M, base::VerifyMode>  ? " | bool"
                           : std::same_as<M, base::StoreType> ? " | torch.dtype"
                                                              : "";
        return "Literal[" + pythonNames<M>() + "]" + more + " | None";
    } else return kindOf(setting);
}

template <class M>
std::string pythonEntry(const Setting<M>& setting)
{
    const std::string usual = pythonDefault(Settings().*setting.member);
    return "    Setting(\n        " + python(setting.name) + ", \"" + kindOf(setting) + "\", " + usual + ", " +
           choicesOf<M>() + ", most=" + std::to_string(static_cast<int>(setting.most)) +
           ", of_search=" + pythonFlag(setting.ofSearch) + ",\n        meaning=" + python(setting.meaning) +
           ",\n    ),\n";
}

std::string className(const std::string& task)
{
    std::string name;
    for (std::size_t i = 0; i < task.size(); ++i)
        if (task[i] != ' ') name += i == 0 || task[i - 1] == ' ' ? static_cast<char>(std::toupper(task[i])) : task[i];
    return name + "Settings";
}

// The keyword arguments of the function that carries out a task.
std::string pythonClass(const base::Named<base::Task>& task)
{
    std::string text = "\n\nclass " + className(task.name) + "(TypedDict, total=False):\n";
    base::forEachField<Settings>([&](const auto& setting) {
        if (setting.tasks.contain(task.value))
            text += std::string("    ") + setting.name + ": " + pythonType(setting) + "\n";
    });
    return text;
}

// The settings of a task by name, with their defaults.
std::string pythonDefaults(const base::Named<base::Task>& task)
{
    std::string text = "    " + python(task.name) + ": {\n";
    const Settings usual = base::usualFor(task.value);
    base::forEachField<Settings>([&](const auto& setting) {
        if (setting.tasks.contain(task.value))
            text += "        " + python(setting.name) + ": " + pythonDefault(usual.*setting.member) + ",\n";
    });
    return text + "    },\n";
}

template <class M>
std::string valuesOf(const Setting<M>& setting)
{
    if constexpr (std::is_enum_v<M>) return base::listNames<M>();
    else if constexpr (std::same_as<M, bool>) return "a flag";
    else if constexpr (std::same_as<M, base::FuseSetting>)
        return "all, none, or any of " + base::listNames<base::Fuse>();
    else if constexpr (std::same_as<M, std::string>)
        return setting.kind == base::TextKind::Folder ? "a folder"
                                                      : "auto, cpu, cuda, cuda:N, or several GPUs: cuda:0,cuda:1";
    else if (setting.quantity == base::Quantity::Bytes) return "a size: 500M, 1Gi, ...";
    else if (setting.quantity == base::Quantity::Seconds) return "seconds";
    else if (setting.most > 0) return "1 to " + std::to_string(static_cast<int>(setting.most));
    else return "a whole number, at least 1";
}

std::string tasksOf(base::Tasks tasks)
{
    std::string text;
    for (const auto& task : namesOf(base::Task{}))
        if (tasks.contain(task.value)) text += (text.empty() ? "" : ", ") + std::string(task.name);
    return text;
}

}  // namespace

std::string pythonSettings()
{
    std::string text = std::string(pythonHead) + "SETTINGS = (\n";
    base::forEachField<Settings>([&](const auto& setting) { text += pythonEntry(setting); });
    text += ")\n\nDEFAULTS: dict[str, dict[str, Any]] = {\n";
    for (const auto& task : namesOf(base::Task{})) text += pythonDefaults(task);
    text += "}\n";
    for (const auto& task : namesOf(base::Task{})) text += pythonClass(task);
    return text;
}

std::string settingsTable()
{
    std::string text =
        "| setting | group | values | default | meaning | taken by | resumed |\n|---|---|---|---|---|---|---|\n";
    base::forEachField<Settings>([&](const auto& setting) {
        const std::string usual = base::settingText(Settings().*setting.member);
        text += std::string("| `") + setting.name + "` | " + base::nameOf(setting.group) + " | " + valuesOf(setting) +
                " | " + usual + " | " + setting.meaning + " | " + tasksOf(setting.tasks) + " | " +
                (setting.resumed == base::Resumed::AsBegun ? "same" : "") + " |\n";
    });
    return text;
}

}  // namespace hopscope::protocol
