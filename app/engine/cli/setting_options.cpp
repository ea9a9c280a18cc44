#include "cli/setting_options.h"

#include <CLI/CLI.hpp>
#include <concepts>

#include "cli/command_tree.h"

namespace hopscope::engine {

namespace {

using base::Setting;

template <class M>
const char* typeOf(const Setting<M>& setting)
{
    if (setting.kind == base::TextKind::Folder) return "DIR";
    if (setting.kind == base::TextKind::Device) return "DEVICE";
    if (setting.quantity == base::Quantity::Bytes) return "SIZE";
    if (setting.quantity == base::Quantity::Seconds) return "SECONDS";
    if (std::same_as<M, base::FuseSetting>) return "PATTERNS";
    return setting.quantity == base::Quantity::Count ? "N" : "CHOICE";
}

// Values that completions offer.
template <class M>
void proposeValues(CLI::Option& option, const Setting<M>& setting)
{
    if constexpr (std::is_enum_v<M>) propose<M>(option);
    else if constexpr (std::same_as<M, base::FuseSetting>) {
        propose<base::Fuse>(option);
        propose(option, {"all", "none", option.get_option_text()});
    } else if (setting.kind == base::TextKind::Device) proposeDevices(option);
}

template <class M>
std::string helpOf(const Setting<M>& setting)
{
    const std::string help = setting.meaning;
    if constexpr (std::is_enum_v<M>) return help + ": " + base::listNames<M>();
    else if constexpr (std::same_as<M, base::FuseSetting>)
        return help + ": all, none, or any of " + base::listNames<base::Fuse>();
    else return help;
}

// The rules make no search that could be limited.
base::Status checkSearch(const base::Settings& settings)
{
    if (!base::isRule(settings.strategy) || (!settings.stages && !settings.deadline)) return {};
    return base::fail(base::ErrorCode::Usage, "--stages and --deadline apply to optimised plans only",
                      "use --strategy optimal or local-search");
}

}  // namespace

void SettingOptions::add(CLI::App& command, base::Task task)
{
    base::forEachField<base::Settings>([&]<class M>(const Setting<M>& setting) {
        if (!setting.tasks.contain(task)) return;
        startGroup(command, base::nameOf(setting.group));
        const std::string name = base::optionOf(setting.name);
        if constexpr (std::same_as<M, bool>) {
            command.add_flag(name, m_flags[setting.name], helpOf(setting));
        } else {
            std::string& text = m_texts[setting.name];
            text = base::settingText(m_usual.*setting.member);
            CLI::Option* const option = command.add_option(name, text, helpOf(setting));
            proposeValues(*option->type_name(typeOf(setting))->capture_default_str(), setting);
        }
    });
}

base::Result<base::Settings> SettingOptions::read() const
{
    base::Settings settings = m_usual;
    base::Status status;
    base::forEachField<base::Settings>([&]<class M>(const Setting<M>& setting) {
        if constexpr (std::same_as<M, bool>) {
            if (const auto flag = m_flags.find(setting.name); flag != m_flags.end())
                settings.*setting.member = flag->second;
        } else if (const auto text = m_texts.find(setting.name); status && text != m_texts.end()) {
            status = base::readSetting(setting, text->second, settings);
        }
    });
    if (status) status = checkSearch(settings);
    if (!status) return base::forward(status);
    return settings;
}

}  // namespace hopscope::engine
