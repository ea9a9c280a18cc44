#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "pipeline/files/home.h"
#include "support/temporary_folder.h"

using namespace hopscope;

namespace {

constexpr int processes = 4, homes = 400;

// How many of the homes that this process makes are not there afterwards.
int missingHomes()
{
    int missing = 0;
    for (int i = 0; i < homes; ++i) {
        const base::Result<pipeline::EngineHome> home = pipeline::EngineHome::make();
        missing += home && std::filesystem::is_directory(home->path()) ? 0 : 1;
    }
    return missing;
}

}  // namespace

TEST_CASE("no engine removes the scratch folder of another one that is just being made")
{
    const test::TemporaryFolder folder;
    std::vector<pid_t> children;
    for (int i = 0; i < processes; ++i) {
        const pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            ::setenv("TMPDIR", folder.path.c_str(), 1);
            _exit(missingHomes() == 0 ? 0 : 1);
        }
        children.push_back(child);
    }
    for (const pid_t child : children) {
        int status = 0;
        REQUIRE(waitpid(child, &status, 0) == child);
        CHECK(status == 0);
    }
}
