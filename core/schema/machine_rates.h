#pragma once

// The rates that the engine assumes for a machine: the answer to machine/rates, machine/measure and machine/forget.

#include <concepts>
#include <cstdint>
#include <string>
#include <vector>

#include "base/describe.h"
#include "base/result.h"
#include "json/json.h"

namespace hopscope::schema {

struct Rate {
    std::string key, what, unit;
    double value = 0;
};

template <std::same_as<Rate> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described("rate", field("key", &T::key, "its name: `gather`"),
                           field("what", &T::what, "for display: `random reads from a store`"),
                           field("unit", &T::unit, "`B/s`, `FLOP/s` or `s`"),
                           field("value", &T::value, "in this unit"));
}

struct WallInWords {
    std::string what, unit;
    double all = 0, one = 0;
};

template <std::same_as<WallInWords> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described("wall", field("what", &T::what, "for display: `random rows of 256 B, table of 32.0 MiB`"),
                           field("unit", &T::unit, "`B/s` or `FLOP/s`"), field("all", &T::all, "with all cores"),
                           field("one", &T::one, "with one core"));
}

struct MachineRates {
    std::string device;
    bool measured = false;
    std::int64_t runs = 0;
    std::vector<Rate> rates{};
    std::vector<WallInWords> walls{};
};

template <std::same_as<MachineRates> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described(
        "machine_rates", field("device", &T::device, "the device"),
        field("measured", &T::measured, "false: they are typical of such a device"),
        field("runs", &T::runs, "finished runs that have refined the measured rates"),
        field("rates", &T::rates, "of the cost model"),
        field("walls", &T::walls, "roofline ceilings of the machine by shape", base::Presence::Later));
}

json::Value machineRatesValue(const MachineRates& machine);
// Reads the answer. Fails with Input and a JSON pointer.
base::Result<MachineRates> machineRatesFrom(const json::Value& answer, const std::string& name);

}  // namespace hopscope::schema
