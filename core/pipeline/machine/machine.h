#pragma once

// Stores the measurements of `bench machine` for later plans, in the user's cache folder (hopscope/machine.json).

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "plan/machine.h"
#include "schema/machine_rates.h"
#include "json/json.h"

namespace hopscope::pipeline {

// Returns the path of the file, in $XDG_CACHE_HOME or, if that is not set, in ~/.cache. Empty if neither XDG_CACHE_HOME nor
// HOME is set.
std::string machineFile();

struct KnownMachine {
    plan::Machine rates;
    bool measured = false;  // false: the rates are typical of such a device
    std::int64_t runs = 0;  // finished runs that have refined the measured rates
    bool outdated = false;  // rates of a different version were found, and are not used
};

// Reads the rates of a device, of several the first one's. Treats an unreadable file as missing.
KnownMachine knownMachine(const std::string& oneOrSeveral);
plan::Machine machineFor(const std::string& oneOrSeveral);  // its rates

// Adds the rates to the file, or replaces those of the same device. Fails with Input if no file can be created, and
// with Resources.
base::Status keepMachine(const KnownMachine& machine);
// Removes the measured rates of a device, so that typical rates are used again. Fails as keepMachine() does.
base::Status forgetMachine(const std::string& device);

// Returns a sentence if this engine cannot use the rates that were measured; otherwise an empty string.
std::string noteOf(const KnownMachine& machine);

// A rate of a machine, for display.
struct Rate {
    const char* key;
    const char* what;
    const char* unit;  // "B/s", "FLOP/s", "s"
    double plan::Machine::*field;
};
// Returns the rates in the order of display.
std::span<const Rate> machineRates();

json::Value machineValue(const plan::Machine& machine);
schema::MachineRates ratesOf(const KnownMachine& machine);  // with readable names and units

}  // namespace hopscope::pipeline
