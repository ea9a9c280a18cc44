#include <filesystem>
#include <optional>

#include "base/units.h"
#include "bench.h"
#include "bench_plans.h"
#include "commands.h"
#include "devices.h"
#include "executor/measure.h"
#include "graph/safetensors.h"
#include "machine.h"
#include "server.h"
#include "server_home.h"
#include "table.h"
#include "verify/verify.h"
#include "json/json.h"

namespace hopscope::engine {

namespace {

// What was written, as `generate --json` says it.
base::Result<std::string> generatedText(const std::string& file, bool json)
{
    const base::Result<base::TensorMap> tensors = graph::mapSafetensors(file);
    if (!tensors) return base::forward(tensors);
    const std::int64_t nodes = tensors->at("x").shape.at(0), edges = tensors->at("edge_index").shape.at(1);
    const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(file));
    if (!json)
        return file + ": " + base::formatCount(static_cast<double>(nodes)) + " nodes, " +
               base::formatCount(static_cast<double>(edges)) + " edges, " +
               base::formatBytes(static_cast<double>(bytes)) + "\n";
    json::Value document;
    document["file"] = file;
    document["nodes"] = nodes;
    document["edges"] = edges;
    document["features"] = tensors->at("x").shape.at(1);
    document["bytes"] = bytes;
    return json::write(document, true);
}

struct Rates {
    plan::Machine machine;
    std::optional<executor::CopyRates> copies;  // of a GPU
};

base::Result<Rates> measureRates(const std::string& device, Session& session)
{
    const base::Result<EngineHome> scratch = EngineHome::make();
    if (!scratch) return base::forward(scratch);
    const base::ProgressFn progress = session.console.progressFn();
    const base::Result<plan::Machine> machine =
        executor::measureMachine(device, scratch->path(), progress, session.stop);
    if (!machine) return base::forward(machine);
    if (device == "cpu") return Rates{*machine, std::nullopt};
    const base::Result<executor::CopyRates> copies = executor::measureCopies(device, progress, session.stop);
    if (!copies) return base::forward(copies);
    return Rates{*machine, *copies};
}

json::Value ratesDocument(const Rates& rates)
{
    json::Value document = machineValue(rates.machine);
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

std::string ratesText(const Rates& rates)
{
    std::string text = describeMachine(rates.machine);
    if (!rates.copies) return text;
    const auto rate = [](double bytes) { return base::formatBytes(bytes) + "/s"; };
    const executor::CopyRates& copies = *rates.copies;
    Table table({Table::Align::Left, Table::Align::Right});
    table.add({"gathers into pinned memory", rate(copies.gather)});
    table.add({"copies to the GPU", rate(copies.up)});
    table.add({"copies from the GPU", rate(copies.down)});
    table.add({"each, both at once", rate(copies.both)});
    return text + "\nEach step alone" + (copies.pinned ? "" : ", without pinned memory: there is none") + "\n" +
           table.render();
}

}  // namespace

base::Result<int> execute(const GenerateCommand& command, Session& session)
{
    const base::Status done =
        graph::generate(command.options, command.output, session.console.progressFn(), session.stop);
    session.console.clearProgress();
    if (!done) return base::forward(done);
    const base::Result<std::string> text = generatedText(command.output, session.console.json());
    if (!text) return base::forward(text);
    if (session.console.json() || !session.console.quiet()) session.console.print(*text);
    return 0;
}

base::Result<int> execute(const BenchCommand& command, Session& session)
{
    base::Result<int> code = benchRun(command.options, session.console.progressFn(), session.stop);
    session.console.clearProgress();
    return code;
}

base::Result<int> execute(const BenchPlansCommand& command, Session& session) { return benchPlans(command, session); }

base::Result<int> execute(const MachineCommand& command, Session& session)
{
    const base::Result<std::string> device = executor::resolveDevice(command.device);
    if (!device) return base::forward(device);
    const base::Result<Rates> rates = measureRates(*device, session);
    session.console.clearProgress();
    if (!rates) return base::forward(rates);
    if (const base::Status kept = keepMachine({rates->machine, true, 0}); !kept) return base::forward(kept);
    session.console.print(session.console.json() ? json::write(ratesDocument(*rates), true) : ratesText(*rates));
    session.console.note("kept for later plans in " + machineFile());
    return 0;
}

base::Result<int> execute(const PlaceCommand& command, Session& session) { return place(command.options, session); }

base::Result<int> execute(const DevicesCommand&, Session& session)
{
    const Devices devices = findDevices();
    session.console.print(session.console.json() ? json::write(devicesValue(devices), true)
                                                 : describeDevices(devices, session.console.style()));
    return 0;
}

base::Result<int> execute(const ServeCommand&, Session& session) { return serve(session.stop); }

base::Result<int> execute(const OracleCommand& command, Session&) { return verify::oracleMain(command.request); }

base::Result<int> execute(const ShowText& command, Session& session)
{
    session.console.print(command.text);
    return 0;
}

}  // namespace hopscope::engine
