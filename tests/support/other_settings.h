#pragma once

// A value for each setting that is not its default.

#include "base/settings.h"

namespace hopscope::test {

inline void setOther(std::string& value) { value = "other"; }
inline void setOther(bool& value) { value = !value; }
inline void setOther(std::optional<int>& value) { value = 7; }
inline void setOther(std::optional<std::int64_t>& value) { value = 1 << 20; }
inline void setOther(std::optional<double>& value) { value = 2.5; }
inline void setOther(base::FuseSetting& value) { value = {base::Fuse::Chain, base::Fuse::Several}; }
template <class E>
void setOther(E& value) requires std::is_enum_v<E>
{
    value = namesOf(value).back().value;
}

// The defaults but for one.
template <class M>
base::Settings withOther(const base::Setting<M>& setting)
{
    base::Settings settings;
    setOther(settings.*setting.member);
    return settings;
}

}  // namespace hopscope::test
