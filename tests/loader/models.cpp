#include "loader/models.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <doctest/doctest.h>

namespace hopscope::test {

namespace fs = std::filesystem;

const std::string& modelFolder()
{
    static const std::string folder = TEST_FOLDER;
    static const bool made = [] {
        const fs::path done = fs::path(TEST_FOLDER) / "done";
        const std::string command = std::string(TEST_PYTHON) + " " + TEST_SCRIPT + " " + TEST_FOLDER;
        return (fs::exists(done) && fs::last_write_time(done) > fs::last_write_time(TEST_SCRIPT)) ||
               std::system(command.c_str()) == 0;
    }();
    if (!made) FAIL("no models: " << std::string(TEST_PYTHON) << " with PyTorch is wanted for " << TEST_SCRIPT);
    return folder;
}

std::string modelPath(const std::string& name)
{
    const std::string path = modelFolder() + "/" + name + ".pt";
    if (!fs::exists(path)) FAIL("make_models.py has not made " << path);
    return path;
}

#ifdef TEST_SHARED
std::vector<std::string> sharedModels()
{
    std::vector<std::string> out;
    for (const auto& entry : fs::directory_iterator(fs::path(TEST_SHARED) / "cora_models"))
        if (entry.path().extension() == ".pt") out.push_back(entry.path().string());
    if (out.empty()) FAIL("no models in " << std::string(TEST_SHARED));
    std::sort(out.begin(), out.end());
    return out;
}
#endif

}  // namespace hopscope::test
