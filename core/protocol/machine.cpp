#include "protocol/machine.h"

#include "json/reader.h"

namespace hopscope::protocol {

base::Result<MachineRates> readMachineRates(const json::Value& result)
{
    const json::Reader root(result, "machine");
    MachineRates machine;
    machine.device = root.get<std::string>("device");
    machine.measured = root.get<bool>("measured");
    machine.runs = root.get<std::int64_t>("runs");
    for (const json::Reader& item : root.items("rates"))
        machine.rates.push_back({.key = item.get<std::string>("key"),
                                 .what = item.get<std::string>("what"),
                                 .unit = item.get<std::string>("unit"),
                                 .value = item.get<double>("value")});
    if (!root.ok()) return base::forward(root.status());
    return machine;
}

}  // namespace hopscope::protocol
