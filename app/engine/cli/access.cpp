#include "cli/access.h"

#include <filesystem>

#include "pipeline/publishing/evaluate.h"
#include "pipeline/running/execute.h"
#include "server/confined.h"

namespace hopscope::engine {

namespace {

namespace fs = std::filesystem;
using confine::Access;

// The file is first written under another name.
void addFile(Access& access, const std::string& file)
{
    if (!file.empty()) access.write.push_back(around(file));
}

void addReading(Access& access, const std::string& path)
{
    if (!path.empty()) access.read.push_back(path);
}

void addPlan(Access& access, const pipeline::PlanSource& plan)
{
    addReading(access, plan.file);
    addReading(access, plan.pins);
}

struct Reachable {
    Access& access;

    void operator()(const InspectCommand& command) const { addModel(access, command.model); }
    void operator()(const PlanCommand& command) const
    {
        addModel(access, command.model);
        addPlan(access, command.plan);
        for (const std::string* const file : {&command.output, &command.explain, &command.steps})
            addFile(access, *file);
    }
    void operator()(const RunCommand& command) const
    {
        addModel(access, command.model);
        addPlan(access, command.plan);
        addFile(access, command.trace);
        if (!command.settings.cache.empty()) access.write.push_back(command.settings.cache);
    }
    void operator()(const VerifyCommand& command) const
    {
        addModel(access, command.model);
        addPlan(access, command.plan);
        addReading(access, command.schema);
        addReading(access, command.against);
    }
    void operator()(const ExportCommand& command) const
    {
        addModel(access, command.model);
        addPlan(access, command.plan);
    }
    void operator()(const DiffCommand& command) const { access.read.insert(access.read.end(), {command.a, command.b}); }
    void operator()(const ReceptiveFieldCommand& command) const
    {
        addModel(access, command.model);
        addFile(access, command.request.idsFile);
    }
    void operator()(const DebugCommand& command) const
    {
        addModel(access, command.model);
        addPlan(access, command.options.plan);
        addReading(access, command.options.against);
        const std::string& output = command.request.output;  // a file, or a folder of files
        if (fs::is_directory(output)) access.write.push_back(output);
        else addFile(access, output);
    }
    template <class Other>
    void operator()(const Other&) const
    {}
};

base::Status open(const RunCommand& command, Outputs& outputs, const std::stop_token& stop)
{
    if (const base::Status made = pipeline::makeCacheFolder(command.settings.cache); !made) return made;
    base::Result<pipeline::OutputFolder> folder = pipeline::openFolder(command, command.output, stop);
    if (!folder) return base::forward(folder);
    outputs.run.emplace(std::move(*folder));
    return {};
}

base::Status open(const ExportCommand& command, Outputs& outputs)
{
    base::Result<pipeline::PartialFolder> folder = pipeline::PartialFolder::make(command.folder);
    if (!folder) return base::forward(folder);
    outputs.exported.emplace(std::move(*folder));
    return {};
}

base::Status open(const DebugCommand& command)
{
    const std::string& folder = command.request.output;
    std::error_code problem;
    if (!folder.empty() && command.show.place.empty()) fs::create_directories(folder, problem);
    if (!problem) return {};
    return base::fail(base::ErrorCode::Input, folder + ": " + problem.message());
}

}  // namespace

bool readsFiles(const Command& command)
{
    return !std::holds_alternative<GenerateCommand>(command) && !std::holds_alternative<MachineCommand>(command) &&
           !std::holds_alternative<OracleCommand>(command) && !std::holds_alternative<ServeCommand>(command) &&
           !std::holds_alternative<WorkerCommand>(command) && !std::holds_alternative<TrustCommand>(command) &&
           !std::holds_alternative<ShowText>(command);
}

base::Result<Outputs> openOutputs(const Command& command, const std::stop_token& stop)
{
    base::Result<pipeline::EngineHome> scratch = beginScratch();
    if (!scratch) return base::forward(scratch);
    Outputs outputs;
    outputs.scratch.emplace(std::move(*scratch));
    base::Status opened;
    if (const auto* const run = std::get_if<RunCommand>(&command)) opened = open(*run, outputs, stop);
    if (const auto* const exported = std::get_if<ExportCommand>(&command)) opened = open(*exported, outputs);
    if (const auto* const debug = std::get_if<DebugCommand>(&command)) opened = open(*debug);
    if (!opened) return base::forward(opened);
    return outputs;
}

Access accessOf(const Command& command, const Outputs& outputs)
{
    Access access;
    std::visit(Reachable{access}, command);
    addUsersOwn(access);
    if (outputs.scratch) addFolder(access, outputs.scratch->path(), around(outputs.scratch->path()));
    if (outputs.run) addFolder(access, outputs.run->path(), outputs.run->around());
    if (outputs.exported) addFolder(access, outputs.exported->partial(), around(outputs.exported->partial()));
    return access;
}

}  // namespace hopscope::engine
