#pragma once

// What runs of benchmarks have in common.

#include <filesystem>
#include <string>

#include "base/folder.h"
#include "executor/executor.h"

namespace hopscope::bench {

// A folder for stores that is empty at first and removed in the end.
struct Stores {
    explicit Stores(std::string folder) : path(std::move(folder))
    {
        base::removeFolder(path);
        std::error_code problem;
        std::filesystem::create_directories(path, problem);
    }
    ~Stores() { base::removeFolder(path); }
    Stores(const Stores&) = delete;
    Stores& operator=(const Stores&) = delete;

    std::string path;
};

inline executor::Options runOptions(const plan::Plan& plan, const base::Settings& settings, const Stores& stores)
{
    executor::Options options(settings);
    options.device = plan.device;
    options.batch = plan.batch;
    options.reorder = base::Reorder::None;
    options.dropStores = settings.hostMemory.has_value();
    options.folder = stores.path;
    return options;
}

}  // namespace hopscope::bench
