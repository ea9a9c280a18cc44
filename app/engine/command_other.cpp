#include <filesystem>

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
    const base::Result<EngineHome> scratch = EngineHome::make();
    if (!scratch) return base::forward(scratch);
    const base::Result<plan::Machine> machine =
        executor::measureMachine(*device, scratch->path(), session.console.progressFn(), session.stop);
    session.console.clearProgress();
    if (!machine) return base::forward(machine);
    if (const base::Status kept = keepMachine({*machine, true, 0}); !kept) return base::forward(kept);
    json::Value document = machineValue(*machine);
    document["device"] = machine->device;
    session.console.print(session.console.json() ? json::write(document, true) : describeMachine(*machine));
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
