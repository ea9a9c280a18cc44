#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace hopscope::test {

// A folder that goes with its object, and everything in it. Throws where none can be made.
struct TemporaryFolder {
    TemporaryFolder() : path((std::filesystem::temp_directory_path() / "hopscope-test-XXXXXX").string())
    {
        if (::mkdtemp(path.data()) == nullptr) throw std::runtime_error("no temporary folder can be made");
    }
    ~TemporaryFolder()
    {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    [[nodiscard]] std::string file(const std::string& name) const { return path + "/" + name; }

    std::string path;
};

}  // namespace hopscope::test
