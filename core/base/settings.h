#pragma once

// Defines the settings of planning, running, verifying and exporting a model. The command line, requests of the window,
// workers, session files, journals and Python take the names, defaults and limits from here. A new setting is a member
// with its default, a line of the table below, and the code that applies it.

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/choices.h"
#include "base/describe.h"
#include "base/fuse.h"
#include "base/reorder.h"
#include "base/store_type.h"

namespace hopscope::base {

struct Settings {
    Strategy strategy = Strategy::Optimal;
    Objective objective = Objective::Time;
    std::optional<int> stages = std::nullopt;
    std::optional<double> deadline = std::nullopt;  // seconds
    std::string device = "auto";
    std::optional<std::int64_t> memory = std::nullopt, hostMemory = std::nullopt;  // bytes
    std::optional<std::int64_t> batch = std::nullopt;
    std::optional<int> threads = std::nullopt;
    FuseSetting fuse = allFuse();
    bool reassociate = false;
    StoreType store = StoreType::Exact;
    Reorder reorder = Reorder::Auto;
    std::string cache = {};
    VerifyMode verify = VerifyMode::Sample;
    NanPolicy nan = NanPolicy::Propagate;
    bool resume = false;

    bool operator==(const Settings&) const = default;
};

// The tasks that take settings.
enum class Task : std::uint8_t { Plan = 1, Run = 2, Verify = 4, Export = 8 };

constexpr auto namesOf(Task)
{
    return std::to_array<Named<Task>>(
        {{Task::Plan, "plan"}, {Task::Run, "run"}, {Task::Verify, "verify"}, {Task::Export, "export"}});
}

struct Tasks {
    std::uint8_t bits = 0;

    [[nodiscard]] constexpr bool contain(Task task) const { return (bits & static_cast<std::uint8_t>(task)) != 0; }
};

template <std::same_as<Task>... T>
constexpr Tasks tasks(T... each)
{
    return {static_cast<std::uint8_t>((static_cast<std::uint8_t>(each) | ...))};
}

// The groups in which help texts and reference pages list the settings and the other options of commands, in order.
enum class Group : std::uint8_t { Inputs, Plan, Execution, Memory, Verification, LongRuns };

constexpr auto namesOf(Group)
{
    return std::to_array<Named<Group>>({{Group::Inputs, "Inputs"},
                                        {Group::Plan, "Plan"},
                                        {Group::Execution, "Execution"},
                                        {Group::Memory, "Memory"},
                                        {Group::Verification, "Verification"},
                                        {Group::LongRuns, "Long runs"}});
}

inline constexpr Tasks everyTask = tasks(Task::Plan, Task::Run, Task::Verify, Task::Export);

// The part of the work that has to be repeated when a setting changes.
enum class Renews : std::uint8_t { Nothing, Plan, Model };

// Whether a resumed run must have the value that it started with.
enum class Resumed : std::uint8_t { AsNow, AsBegun };

// The kind of thing that a text names.
enum class TextKind : std::uint8_t { Nothing, Device, Folder };

struct OfSearch {};  // controls the search for a plan; has no effect if a plan is given

struct Most {  // limits a whole number, whose minimum is 1; seconds must exceed 0
    double value;
};

template <class M>
struct Setting : Field<Settings, M> {  // if missing or null, it has its default
    const char* label;                 // in the window
    Group group;
    Tasks tasks;
    Renews renews = Renews::Nothing;
    Resumed resumed = Resumed::AsNow;
    TextKind kind = TextKind::Nothing;
    bool ofSearch = false;
    double most = 0;  // 0: no limit

    using Field<Settings, M>::take;
    constexpr void take(Renews r) { renews = r; }
    constexpr void take(Resumed r) { resumed = r; }
    constexpr void take(TextKind k) { kind = k; }
    constexpr void take(OfSearch) { ofSearch = true; }
    constexpr void take(Most m) { most = m.value; }
};

// Makes a setting. The traits are a Quantity, a Renews, a Resumed, a TextKind, an OfSearch and a Most; each is optional.
template <class M, class... Traits>
constexpr Setting<M> setting(const char* name, M Settings::*member, const char* label, const char* help, Group group,
                             Tasks tasks, Traits... traits)
{
    Setting<M> made{{{name, help, Quantity::None, Presence::Later}, member}, label, group, tasks};
    (made.take(traits), ...);
    return made;
}

template <std::same_as<Settings> T>
constexpr auto fieldsOf(const T*)
{
    using enum Task;
    return described(
        "settings",
        setting("strategy", &T::strategy, "Strategy", "How cuts are chosen", Group::Plan, everyTask, Renews::Plan,
                Resumed::AsBegun, OfSearch()),
        setting("objective", &T::objective, "Objective", "Cost that the search for a plan minimises", Group::Plan,
                everyTask, Renews::Plan, Resumed::AsBegun, OfSearch()),
        setting("stages", &T::stages, "Stages", "Maximum number of stages in the search for a plan", Group::Plan,
                everyTask, Renews::Plan, Resumed::AsBegun, OfSearch(), Quantity::Count, Most{1000}),
        setting("deadline", &T::deadline, "Time limit of the optimisation",
                "Time limit of the optimisation in seconds; the best plan found by then is used", Group::Plan,
                everyTask, Renews::Plan, OfSearch(), Quantity::Seconds),
        setting("device", &T::device, "Device", "Device: auto, cpu, cuda, cuda:N, or several: cuda:0,cuda:1",
                Group::Execution, everyTask, Renews::Plan, TextKind::Device),
        setting("memory", &T::memory, "Memory limit", "Memory limit of the device, of each of several", Group::Memory,
                everyTask, Renews::Plan, Quantity::Bytes),
        setting("host_memory", &T::hostMemory, "Limit of stored values",
                "Limit of the values stored between stages; each is freed after its last use", Group::Memory, everyTask,
                Renews::Plan, Quantity::Bytes),
        setting("batch", &T::batch, "Batch", "Destination nodes per batch", Group::Execution, everyTask, Renews::Plan,
                Resumed::AsBegun, Quantity::Count),
        setting("threads", &T::threads, "CPU cores", "CPU cores to use", Group::Execution, everyTask, Renews::Plan,
                Quantity::Count, Most{4096}),
        setting("fuse", &T::fuse, "Fused patterns", "Patterns to fuse into one pass over the edges", Group::Execution,
                everyTask, Renews::Plan, Resumed::AsBegun),
        setting("reassociate", &T::reassociate, "Reassociate products",
                "Multiply by weights before gathers, sums and concatenations where that saves work; rounding changes",
                Group::Execution, tasks(Plan, Run, Verify), Renews::Model, Resumed::AsBegun),
        setting("store", &T::store, "Type of stored values", "Type of the values stored between stages", Group::Memory,
                tasks(Plan, Run), Renews::Plan, Resumed::AsBegun),
        setting("reorder", &T::reorder, "Order of nodes", "Order in which nodes are computed", Group::Execution,
                tasks(Run), Resumed::AsBegun),
        setting("cache", &T::cache, "Cache folder",
                "Keep adjacencies and node orders in this folder for later runs on the same edges", Group::Execution,
                tasks(Run), Renews::Model, TextKind::Folder),
        setting("verify", &T::verify, "Verify", "Rows to compare with the model's own forward", Group::Verification,
                tasks(Run, Verify)),
        setting("nan", &T::nan, "NaN in inputs", "Treatment of NaN or infinite inputs", Group::Inputs, tasks(Run)),
        setting("resume", &T::resume, "Resume",
                "Keep a journal in the output folder and resume an interrupted run found there; results are "
                "bit-identical",
                Group::LongRuns, tasks(Run)));
}

// Returns the text of a value, for example "500000000", "chain,softmax" or "float32"; empty for a number that is not
// set.
std::string settingText(const std::string& value);
std::string settingText(bool value);
std::string settingText(std::optional<int> value);
std::string settingText(std::optional<std::int64_t> value);
std::string settingText(std::optional<double> value);
std::string settingText(const std::vector<Fuse>& value);
template <class E>
std::string settingText(E value) requires std::is_enum_v<E>
{
    return nameOf(value);
}

// The option that messages name, and the requirements on its number.
struct NumberRule {
    std::string option;  // "--batch"
    Quantity quantity = Quantity::Count;
    double most = 0;  // 0: no limit
};

// Parse the text of a value. "auto" also stands for a number that is not set, and sizes may have units, as in 500M or
// 1Gi. Fail with Usage, for example "--batch: 'x' is neither auto nor a positive whole number".
Status readSettingText(const std::string& text, const NumberRule& rule, std::string& into);
Status readSettingText(const std::string& text, const NumberRule& rule, bool& into);
Status readSettingText(const std::string& text, const NumberRule& rule, std::optional<int>& into);
Status readSettingText(const std::string& text, const NumberRule& rule, std::optional<std::int64_t>& into);
Status readSettingText(const std::string& text, const NumberRule& rule, std::optional<double>& into);
Status readSettingText(const std::string& text, const NumberRule& rule, std::vector<Fuse>& into);
template <class E>
Status readSettingText(const std::string& text, const NumberRule& rule, E& into) requires std::is_enum_v<E>
{
    const Result<E> parsed = parseName<E>(text, "value of " + rule.option);
    if (!parsed) return forward(parsed);
    into = *parsed;
    return {};
}

// Returns the defaults of a task. Exports minimise bytes, because such plans are the same on every machine.
Settings usualFor(Task task);

// Returns the work that has to be repeated because of the differences between the settings.
Renews renewedBy(const Settings& before, const Settings& after);

// Returns the settings that the task takes, with defaults for all others.
Settings forTask(const Settings& settings, Task task);

// Returns the option of a setting, for example "--host-memory".
std::string optionOf(const char* setting);

template <class M>
Status readSetting(const Setting<M>& setting, const std::string& text, Settings& into)
{
    return readSettingText(text, {optionOf(setting.name), setting.quantity, setting.most}, into.*setting.member);
}

}  // namespace hopscope::base
