#include <filesystem>

#include "base/units.h"
#include "cli/commands.h"
#include "cli/describe.h"
#include "graph/safetensors.h"
#include "server/front.h"
#include "server/worker_front.h"
#include "verify/verify.h"
#include "json/json.h"

namespace hopscope::engine {

namespace {

// Describes the generated file, with `json` in the format of `generate --json`.
base::Result<std::string> generatedText(const std::string& file, bool json)
{
    const base::Result<base::TensorMap> tensors = graph::mapSafetensors(file);
    if (!tensors) return base::forward(tensors);
    const std::int64_t nodes = tensors->at("x").shape.at(0), edges = tensors->at("edge_index").shape.at(1);
    const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(file));
    if (!json)
        return file + ": " + base::counted(nodes, "node") + ", " + base::counted(edges, "edge") + ", " +
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
        graph::generate(command.options, command.output, pipeline::progressOf(session.console), session.stop);
    session.console.progressEnded();
    if (!done) return base::forward(done);
    const base::Result<std::string> text = generatedText(command.output, session.console.json());
    if (!text) return base::forward(text);
    if (session.console.json() || !session.console.quiet()) session.console.print(*text);
    return 0;
}

base::Result<int> execute(const DevicesCommand&, Session& session)
{
    const pipeline::Devices devices = pipeline::findDevices();
    session.console.print(session.console.json() ? json::write(pipeline::devicesValue(devices), true)
                                                 : describeDevices(devices, session.console.style()));
    return 0;
}

base::Result<int> execute(const ServeCommand&, Session& session) { return serve(session.stop, session.sandbox); }

base::Result<int> execute(const WorkerCommand&, Session& session) { return work(session.stop, session.sandbox); }

base::Result<int> execute(const OracleCommand& command, Session&) { return verify::oracleMain(command.request); }

base::Result<int> execute(const ShowText& command, Session& session)
{
    session.console.print(command.text);
    return 0;
}

}  // namespace hopscope::engine
