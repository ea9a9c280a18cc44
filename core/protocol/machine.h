#pragma once

// The speeds that the engine assumes for a machine: measured on it, or a typical machine's.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "json/json.h"

namespace hopscope::protocol {

struct Rate {
    std::string key, what, unit;  // "gather", "rows by number, from a store", "B/s"
    double value = 0;
};

struct MachineRates {
    std::string device;
    bool measured = false;  // else a typical machine's
    std::int64_t runs = 0;  // that have refined them
    std::vector<Rate> rates;
};

// The result of machine/rates, machine/measure and machine/forget. Fails with Input and a JSON pointer.
base::Result<MachineRates> readMachineRates(const json::Value& result);

}  // namespace hopscope::protocol
