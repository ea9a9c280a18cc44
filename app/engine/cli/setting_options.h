#pragma once

// Maps settings (base/settings.h) to options of commands.

#include <map>
#include <string>

#include "base/settings.h"

namespace CLI {
class App;
}

namespace hopscope::engine {

// Holds options as text while they are parsed, and converts them to settings afterwards. Must outlive the parser.
class SettingOptions {
public:
    explicit SettingOptions(const base::Settings& usual = {}) : m_usual(usual) {}

    // Adds options for the settings that the task takes.
    void add(CLI::App& command, base::Task task);
    // Returns the settings that were given. Fails with Usage.
    [[nodiscard]] base::Result<base::Settings> read() const;

private:
    base::Settings m_usual;
    std::map<std::string, std::string> m_texts;
    std::map<std::string, bool> m_flags;
};

}  // namespace hopscope::engine
