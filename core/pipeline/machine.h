#pragma once

// The measurements of `bench machine`, kept for later plans in the user's cache folder (hopscope/machine.json).

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "plan/machine.h"
#include "schema/machine_rates.h"
#include "json/json.h"

namespace hopscope::pipeline {

// $XDG_CACHE_HOME or ~/.cache; empty if there is neither.
std::string machineFile();

struct KnownMachine {
    plan::Machine rates;
    bool measured = false;  // false: typical of such a device
    std::int64_t runs = 0;  // finished runs that have refined the measured rates
    bool outdated = false;  // there are rates, but an engine with other measurements wrote them: they are not used
};

// A file that cannot be read counts as missing.
KnownMachine knownMachine(const std::string& device);
plan::Machine machineFor(const std::string& device);  // its rates

// Adds the machine to the file, or replaces the entry of its device. Fails with Resources.
base::Status keepMachine(const KnownMachine& machine);
// Removes the measured rates: the device counts as a typical one again. Fails with Resources.
base::Status forgetMachine(const std::string& device);

// A sentence if rates were measured that this engine cannot use; otherwise empty.
std::string noteOf(const KnownMachine& machine);

// The rates, in the order in which they are shown.
struct Rate {
    const char* key;
    const char* what;
    const char* unit;  // "B/s", "FLOP/s", "s"
    double plan::Machine::*field;
};
std::span<const Rate> machineRates();

json::Value machineValue(const plan::Machine& machine);
schema::MachineRates ratesOf(const KnownMachine& machine);  // with words and units

}  // namespace hopscope::pipeline
