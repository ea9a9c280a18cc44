#pragma once

// machine/rates, machine/measure and machine/forget: the rates that the cost model assumes for a device.

#include "server/requests.h"

namespace hopscope::engine {

Outcome machineRates(const json::Reader& params, const Call& call);
// Creates large temporary tables in `folder`.
Outcome measureRates(const json::Reader& params, const std::string& folder, const Call& call);
Outcome forgetRates(const json::Reader& params, const Call& call);

}  // namespace hopscope::engine
