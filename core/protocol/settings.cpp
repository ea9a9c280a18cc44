#include "protocol/settings.h"

#include "protocol/forms.h"

namespace hopscope::base {

namespace {

template <class N>
void checkNumber(const Setting<std::optional<N>>& setting, const std::optional<N>& value, const json::Reader& object)
{
    if (!value) return;
    const json::Reader member = object.child(setting.name);
    if constexpr (std::floating_point<N>) {
        if (!(*value > 0)) member.refuse("must be more than 0");
    } else if (*value < 1) {
        member.refuse("must be at least 1");
    } else if (setting.most > 0 && static_cast<double>(*value) > setting.most) {
        member.refuse("must be at most " + std::to_string(static_cast<std::int64_t>(setting.most)));
    }
}

}  // namespace

void checkRead(const Settings& settings, const json::Reader& reader)
{
    forEachField<Settings>([&]<class M>(const Setting<M>& setting) {
        if constexpr (json::isOptional<M>) checkNumber(setting, settings.*setting.member, reader);
    });
}

}  // namespace hopscope::base

namespace hopscope::protocol {

base::Settings readSettings(const json::Reader& object) { return json::readAs<base::Settings>(object); }

json::Value settingsValue(const base::Settings& settings) { return json::written(settings); }

void writeChanged(json::Value& object, const base::Settings& settings, const base::Settings& usual)
{
    base::forEachField<base::Settings>([&](const auto& setting) {
        if (settings.*setting.member != usual.*setting.member)
            object[setting.name] = json::written(settings.*setting.member);
    });
}

}  // namespace hopscope::protocol
