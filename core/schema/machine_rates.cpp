#include "schema/machine_rates.h"

#include "schema/described_document.h"

namespace hopscope::schema {

json::Value machineRatesValue(const MachineRates& machine) { return json::written(machine); }

base::Result<MachineRates> machineRatesFrom(const json::Value& answer, const std::string& name)
{
    return readMessage<MachineRates>(answer, name);
}

}  // namespace hopscope::schema
