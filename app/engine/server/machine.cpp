#include "server/machine.h"

#include "executor/executor.h"
#include "executor/measure.h"
#include "pipeline/machine.h"
#include "server/documents.h"

namespace hopscope::engine {

namespace {

// The requested device, or the refusal.
tl::expected<std::string, protocol::RpcError> deviceOf(const json::Reader& params)
{
    const std::string wanted = textOr(params, "device", "auto");
    if (!params.ok()) return invalid(params);
    const base::Result<std::string> resolved = executor::resolveDevice(wanted);
    if (!resolved) return failed(resolved.error());
    return *resolved;
}

}  // namespace

Outcome machineRates(const json::Reader& params, const Call&)
{
    const auto device = deviceOf(params);
    if (!device) return tl::unexpected(device.error());
    return schema::machineRatesValue(pipeline::ratesOf(pipeline::knownMachine(*device)));
}

Outcome measureRates(const json::Reader& params, const std::string& folder, const Call& call)
{
    const auto device = deviceOf(params);
    if (!device) return tl::unexpected(device.error());
    const auto machine = executor::measureMachine(*device, folder, call.progress, call.stop);
    if (!machine) return failed(machine.error());
    const pipeline::KnownMachine known{.rates = *machine, .measured = true, .runs = 0};
    if (const base::Status kept = pipeline::keepMachine(known); !kept) return failed(kept.error());
    return schema::machineRatesValue(pipeline::ratesOf(known));
}

Outcome forgetRates(const json::Reader& params, const Call&)
{
    const auto device = deviceOf(params);
    if (!device) return tl::unexpected(device.error());
    if (const base::Status gone = pipeline::forgetMachine(*device); !gone) return failed(gone.error());
    return schema::machineRatesValue(pipeline::ratesOf(pipeline::knownMachine(*device)));
}

}  // namespace hopscope::engine
