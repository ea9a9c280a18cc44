#include "server/machine.h"

#include "executor/executor.h"
#include "executor/measure.h"
#include "pipeline/machine/machine.h"

namespace hopscope::engine {

Outcome machineRates(const protocol::ReadRates& query)
{
    const base::Result<std::string> device = executor::resolveDevice(query.device);
    if (!device) return failed(device.error());
    return schema::machineRatesValue(pipeline::ratesOf(pipeline::knownMachine(*device)));
}

Outcome measureRates(const protocol::MeasureRates& query, const std::string& folder, const Call& call)
{
    const base::Result<std::string> device = executor::resolveDevice(query.device);
    if (!device) return failed(device.error());
    const auto machine =
        executor::measureMachine(executor::devicesOf(*device).front(), folder, call.progress, call.stop);
    if (!machine) return failed(machine.error());
    const pipeline::KnownMachine known{.rates = *machine, .measured = true, .runs = 0};
    if (const base::Status kept = pipeline::keepMachine(known); !kept) return failed(kept.error());
    return schema::machineRatesValue(pipeline::ratesOf(known));
}

Outcome forgetRates(const protocol::ForgetRates& query)
{
    const base::Result<std::string> device = executor::resolveDevice(query.device);
    if (!device) return failed(device.error());
    if (const base::Status gone = pipeline::forgetMachine(executor::devicesOf(*device).front()); !gone)
        return failed(gone.error());
    return schema::machineRatesValue(pipeline::ratesOf(pipeline::knownMachine(*device)));
}

}  // namespace hopscope::engine
