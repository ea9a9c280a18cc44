#pragma once

// Answers requests about the machine: machine/rates, machine/measure and machine/forget, which concern the rates that
// the cost model assumes for a device, and fs/list.

#include "protocol/requests.h"
#include "server/requests.h"

namespace hopscope::engine {

Outcome machineRates(const protocol::ReadRates& query);
// Creates large temporary tables in `folder`.
Outcome measureRates(const protocol::MeasureRates& query, const std::string& folder, const Call& call);
Outcome forgetRates(const protocol::ForgetRates& query);

Outcome listFolder(const protocol::ListFolder& query);

}  // namespace hopscope::engine
