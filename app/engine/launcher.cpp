// hopscope-engine: prints its version, cuts samples (sampling/), and otherwise becomes hopscope-engine-torch, the engine
// itself, in the same folder. A program that is linked with LibTorch needs a quarter of a second of a core before main.

#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <string>

#include "commit.h"
#include "sampling/sampling.h"
#include "version.h"

namespace {

constexpr int resources = 6, internalError = 7;
constexpr const char* engineName = "hopscope-engine-torch";

// Symbolic links are resolved, so that a link to this program alone is enough.
std::string besideThisProgram(const char* name)
{
    std::string path(PATH_MAX, '\0');
    const ssize_t size = readlink("/proc/self/exe", path.data(), path.size());
    path.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return path.substr(0, path.rfind('/') + 1) + name;
}

}  // namespace

int main(int count, char** arguments)
{
    if (count == 2 && std::strcmp(arguments[1], "--version") == 0) {
        using namespace hopscope::engine;
        std::printf("hopscope-engine %s\ntorch %s, commit %s\n%s\n", versionText, torchText, commitText, featuresText);
        if (std::fflush(stdout) == 0) return 0;
        std::fprintf(stderr, "error: standard output cannot be written: %s\n", std::strerror(errno));
        return resources;
    }
    if (count > 1 && std::strcmp(arguments[1], "sample") == 0) return hopscope::engine::sampleMain(count, arguments);
    const std::string engine = besideThisProgram(engineName);
    execv(engine.c_str(), arguments);
    std::fprintf(stderr, "error: %s cannot be started: %s; it must be in the same folder as hopscope-engine\n",
                 engine.c_str(), std::strerror(errno));
    return internalError;
}
