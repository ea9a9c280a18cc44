#include "loader/save_module.h"

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/export.h>

#include <exception>
#include <fstream>

#include "loader/names.h"

namespace hopscope::loader {

base::Status saveModule(const torch::jit::Module& module, const std::string& path)
{
    std::ofstream file(path, std::ios::binary);
    try {
        // After a failure the stream takes no more, and LibTorch does not learn of it.
        torch::jit::ExportModule(module, [&file](const void* bytes, std::size_t count) {
            file.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(count));
            return count;
        });
    } catch (const std::exception& e) {
        return base::fail(base::ErrorCode::Internal,
                          path + ": LibTorch cannot write the module: " + names::firstLine(e.what()));
    }
    file.close();
    if (file) return {};
    return base::fail(base::ErrorCode::Resources, path + ": cannot be written", "is the disk full?", path);
}

}  // namespace hopscope::loader
