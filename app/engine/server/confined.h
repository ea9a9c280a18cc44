#pragma once

// Startup of a process that opens a model: it gets a scratch folder of its own, is confined, and starts a server for the
// children that verify, which are confined as well.

#include <optional>
#include <string>

#include "confine/confine.h"
#include "pipeline/home.h"
#include "pipeline/options.h"

namespace hopscope::engine {

// All temporary files go to this folder from now on. Fails with Resources.
base::Result<pipeline::EngineHome> beginScratch();

// Structure and the prologue may take up to a quarter of the free memory.
void allowScratch();

// Once, while the process has a single thread. Without access it keeps its rights, as requested by the user.
// `verifies`: it runs models' own forward in children.
void beginConfined(std::optional<confine::Access> access, bool verifies);

// The folder that contains a file or a folder.
std::string around(const std::string& path);
// Allows writing below `folder`, and removing it at the end, which is a change of the folder `in` around it.
void addFolder(confine::Access& access, const std::string& folder, const std::string& in);
void addModel(confine::Access& access, const pipeline::ModelOptions& model);
// The rates of the machine, which runs refine, and the list of trusted files.
void addUsersOwn(confine::Access& access);

}  // namespace hopscope::engine
