#include "server/confined.h"

#include <cstdlib>
#include <filesystem>
#include <utility>

#include "base/proc.h"
#include "graph/file.h"
#include "pipeline/machine/machine.h"
#include "pipeline/opening/trust.h"
#include "verify/fork_server.h"
#include "verify/verify.h"

namespace hopscope::engine {

namespace {

constexpr std::int64_t shareForScratch = 4;

std::optional<confine::Access> g_access;  // of this process and its children; none: --no-sandbox

void enter()
{
    if (g_access) confine::enter(*g_access);
    else confine::renounce("--no-sandbox");
}

void beginOracle()
{
    verify::volunteerForOom();
    enter();
}

int oracle(const std::string& request, const std::vector<int>&)
{
    allowScratch();
    return verify::forkedOracleMain(request);
}

}  // namespace

base::Result<pipeline::EngineHome> beginScratch()
{
    base::Result<pipeline::EngineHome> home = pipeline::EngineHome::make();
    if (home) ::setenv("TMPDIR", home->path().c_str(), 1);
    return home;
}

void allowScratch() { graph::allowAnonymousScratch(base::availableMemory() / shareForScratch); }

void beginConfined(std::optional<confine::Access> access, bool verifies)
{
    g_access = std::move(access);
    if (verifies) verify::beginForkServer(oracle, beginOracle);
    enter();
}

std::string around(const std::string& path)
{
    const std::string folder = std::filesystem::path(path).parent_path().string();
    return folder.empty() ? "." : folder;
}

void addFolder(confine::Access& access, const std::string& folder, const std::string& in)
{
    access.write.push_back(folder);
    access.rearrange.push_back(in);
}

void addModel(confine::Access& access, const pipeline::ModelOptions& model)
{
    if (!model.model.empty()) access.read.push_back(model.model);
    for (const std::string& data : model.data) {
        access.read.push_back(data);
        access.read.push_back(data.substr(data.find('=') + 1));  // the file of NAME=FILE
    }
}

void addUsersOwn(confine::Access& access)
{
    if (const std::string file = pipeline::machineFile(); !file.empty()) access.write.push_back(around(file));
    if (const std::string file = pipeline::trustFile(); !file.empty()) access.read.push_back(file);
}

}  // namespace hopscope::engine
