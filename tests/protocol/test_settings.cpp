#include <doctest/doctest.h>

#include <limits>
#include <set>

#include "protocol/settings.h"
#include "support/other_settings.h"

using namespace hopscope;
using base::Settings;

namespace {

// The settings that a text of JSON names, or the sentence by which they are refused.
std::pair<Settings, std::string> settingsIn(const std::string& text)
{
    const base::Result<json::Value> value = json::parse(text, "params");
    REQUIRE(value);
    const json::Reader reader(*value, "params");
    const Settings settings = protocol::readSettings(reader);
    return {settings, reader.ok() ? "" : reader.status().error().message};
}

std::string member(const char* name, const std::string& value)
{
    return "{\"" + std::string(name) + "\": " + value + "}";
}

}  // namespace

TEST_CASE("every setting is the same after it was written and read, as JSON and as a text")
{
    base::forEachField<Settings>([](const auto& setting) {
        CAPTURE(setting.name);
        const Settings other = test::withOther(setting);
        REQUIRE(other != Settings());
        CHECK(settingsIn(json::write(protocol::settingsValue(other))) == std::pair(other, std::string()));
        json::Value changed = json::Value::object();
        protocol::writeChanged(changed, other);
        CHECK(changed.size() == 1);
        CHECK(settingsIn(json::write(changed)).first == other);

        Settings read;
        const base::Status fine = base::readSetting(setting, base::settingText(other.*setting.member), read);
        CHECK_MESSAGE(fine, base::describe(fine.error()));
        CHECK(read == other);
    });
}

TEST_CASE("a setting that is missing or null has its default, and one of another type is refused by its name")
{
    base::forEachField<Settings>([]<class M>(const base::Setting<M>& setting) {
        CAPTURE(setting.name);
        CHECK(settingsIn("{}") == std::pair(Settings(), std::string()));
        CHECK(settingsIn(member(setting.name, "null")) == std::pair(Settings(), std::string()));
        CHECK(settingsIn(member(setting.name, "[]")).second.find(setting.name) != std::string::npos);
    });
}

TEST_CASE("numbers outside of what a setting allows are refused, as JSON and as texts")
{
    base::forEachField<Settings>([]<class M>(const base::Setting<M>& setting) {
        if (setting.quantity == base::Quantity::None) return;
        std::vector<std::string> wrong{"0", "-1"};
        if (setting.most > 0) wrong.push_back(std::to_string(static_cast<int>(setting.most) + 1));
        for (const std::string& text : wrong) {
            CAPTURE(std::string(setting.name) + " " + text);
            CHECK(settingsIn(member(setting.name, text)).second.find("must be ") != std::string::npos);
            Settings read;
            const base::Status status = base::readSetting(setting, text, read);
            REQUIRE_FALSE(status);
            CHECK(status.error().message.starts_with(base::optionOf(setting.name) + ": "));
        }
    });
}

TEST_CASE("every setting has a name and a label of its own, and something that takes it")
{
    std::set<std::string> names, labels;
    base::forEachField<Settings>([&](const auto& setting) {
        CHECK(names.insert(setting.name).second);
        CHECK(labels.insert(setting.label).second);
        CHECK(setting.tasks.bits != 0);
        for (const auto& task : namesOf(base::Task{})) {
            const Settings other = test::withOther(setting), usual = base::usualFor(task.value);
            CHECK(base::forTask(other, task.value).*setting.member ==
                  (setting.tasks.contain(task.value) ? other.*setting.member : usual.*setting.member));
        }
    });
}
