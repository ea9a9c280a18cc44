#pragma once

// Settings (base/settings.h) as options of commands.

#include <map>
#include <string>

#include "base/settings.h"

namespace CLI {
class App;
}

namespace hopscope::engine {

// Options are texts while they are parsed, and settings afterwards. Must outlive the parser.
class SettingOptions {
public:
    explicit SettingOptions(const base::Settings& usual = {}) : m_usual(usual) {}

    // Options for the settings that the task takes.
    void add(CLI::App& command, base::Task task);
    // The settings that were given. Fails with Usage.
    [[nodiscard]] base::Result<base::Settings> read() const;

private:
    base::Settings m_usual;
    std::map<std::string, std::string> m_texts;
    std::map<std::string, bool> m_flags;
};

}  // namespace hopscope::engine
