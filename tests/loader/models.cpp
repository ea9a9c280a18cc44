#include "loader/models.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace hopscope::test {

namespace fs = std::filesystem;

bool canMakeModels() { return fs::exists(TEST_PYTHON); }

const std::string& modelFolder()
{
    static const std::string folder = [] {
        const fs::path done = fs::path(TEST_FOLDER) / "done";
        const bool fresh = fs::exists(done) && fs::last_write_time(done) > fs::last_write_time(TEST_SCRIPT);
        const std::string command = std::string(TEST_PYTHON) + " " + TEST_SCRIPT + " " + TEST_FOLDER;
        const bool made = fresh || (canMakeModels() && std::system(command.c_str()) == 0);
        return made ? std::string(TEST_FOLDER) : std::string();
    }();
    return folder;
}

std::string modelPath(const std::string& name)
{
    const std::string path = modelFolder() + "/" + name + ".pt";
    return !modelFolder().empty() && fs::exists(path) ? path : std::string();
}

std::vector<std::string> sharedModels()
{
    std::vector<std::string> out;
    const fs::path folder = fs::path(TEST_SHARED) / "cora_models";
    if (!fs::exists(folder)) return out;
    for (const auto& entry : fs::directory_iterator(folder))
        if (entry.path().extension() == ".pt") out.push_back(entry.path().string());
    std::sort(out.begin(), out.end());
    return out;
}

std::string sharedFile(const std::string& name)
{
    const fs::path path = fs::path(TEST_SHARED) / name;
    return fs::exists(path) ? path.string() : std::string();
}

}  // namespace hopscope::test
