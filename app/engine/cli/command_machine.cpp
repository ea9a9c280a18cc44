#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "cli/commands.h"
#include "cli/describe.h"
#include "cli/table.h"
#include "executor/measure.h"
#include "pipeline/files/home.h"
#include "pipeline/machine/machine.h"

namespace hopscope::engine {

namespace {

struct Rates {
    plan::Machine machine;
    std::optional<executor::CopyRates> copies;  // of a GPU
};

base::Result<Rates> measureRates(const std::string& device, Session& session)
{
    const base::Result<pipeline::EngineHome> scratch = pipeline::EngineHome::make();
    if (!scratch) return base::forward(scratch);
    const base::ProgressFn progress = pipeline::progressOf(session.console);
    const base::Result<plan::Machine> machine =
        executor::measureMachine(device, scratch->path(), progress, session.stop);
    if (!machine) return base::forward(machine);
    if (device == "cpu") return Rates{*machine, std::nullopt};
    const base::Result<executor::CopyRates> copies = executor::measureCopies(device, progress, session.stop);
    if (!copies) return base::forward(copies);
    return Rates{*machine, *copies};
}

json::Value deviceDocument(const Rates& rates)
{
    json::Value document = pipeline::machineValue(rates.machine);
    document["device"] = rates.machine.device;
    if (!rates.copies) return document;
    json::Value& copies = document["copies"];
    copies["up"] = rates.copies->up;
    copies["down"] = rates.copies->down;
    copies["both"] = rates.copies->both;
    copies["gather"] = rates.copies->gather;
    copies["pinned"] = rates.copies->pinned;
    return document;
}

// The rates of the default device for runs, followed by those of the other devices.
json::Value ratesDocument(const std::vector<Rates>& all)
{
    const std::size_t usual = all.size() > 1 ? 1 : 0;  // the first GPU comes after the CPU
    json::Value document = deviceDocument(all.at(usual));
    for (std::size_t i = 0; i < all.size(); ++i)
        if (i != usual) document["others"].push(deviceDocument(all[i]));
    return document;
}

std::string deviceText(const Rates& rates)
{
    std::string text = describeMachine(rates.machine);
    if (!rates.copies) return text;
    const auto rate = [](double bytes) { return base::formatBytes(bytes) + "/s"; };
    const executor::CopyRates& copies = *rates.copies;
    Table table({Align::Left, Align::Right});
    table.add({"gathers into pinned memory", rate(copies.gather)});
    table.add({"copies to the GPU", rate(copies.up)});
    table.add({"copies from the GPU", rate(copies.down)});
    table.add({"simultaneous copies, each way", rate(copies.both)});
    return text + "\nCopies" + (copies.pinned ? "" : ", pageable: no pinned memory available") + "\n" + table.render();
}

std::string ratesText(const std::vector<Rates>& all)
{
    std::string text;
    for (const Rates& rates : all) text += (text.empty() ? "" : "\n") + deviceText(rates);
    return text;
}

base::Result<std::vector<std::string>> devicesOf(const MachineCommand& command)
{
    std::vector<std::string> ids;
    if (command.device.empty()) {
        for (const executor::DeviceInfo& device : executor::listDevices()) ids.push_back(device.id);
        return ids;
    }
    const base::Result<std::string> device = executor::resolveDevice(command.device);
    if (!device) return base::forward(device);
    return executor::devicesOf(*device);
}

}  // namespace

base::Result<int> execute(const MachineCommand& command, Session& session)
{
    const base::Result<std::vector<std::string>> devices = devicesOf(command);
    if (!devices) return base::forward(devices);
    std::vector<Rates> all;
    for (const std::string& device : *devices) {
        const base::Result<Rates> rates = measureRates(device, session);
        session.console.progressEnded();
        if (!rates) return base::forward(rates);
        const pipeline::KnownMachine measured{.rates = rates->machine, .measured = true, .runs = 0};
        if (const base::Status kept = pipeline::keepMachine(measured); !kept) return base::forward(kept);
        all.push_back(*rates);
    }
    session.console.print(session.console.json() ? json::write(ratesDocument(all), true) : ratesText(all));
    session.console.note("saved for later plans in " + pipeline::machineFile());
    return 0;
}

}  // namespace hopscope::engine
