#pragma once

// machine/rates, machine/measure and machine/forget: the rates that the cost model assumes for a device.

#include "server/requests.h"

namespace hopscope::engine {

Outcome machineRates(const json::Reader& params, const Call& call);
// Large tables are made in `folder` for as long as it takes.
Outcome measureRates(const json::Reader& params, const std::string& folder, const Call& call);
Outcome forgetRates(const json::Reader& params, const Call& call);

}  // namespace hopscope::engine
