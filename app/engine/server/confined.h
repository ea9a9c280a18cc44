#pragma once

// Starts up a process that opens a model: gives it a scratch folder, confines it, and starts a server for the children
// that verify, which are confined as well.

#include <optional>
#include <string>

#include "confine/confine.h"
#include "pipeline/files/home.h"
#include "pipeline/options.h"

namespace hopscope::engine {

// Makes all temporary files go to this folder from now on. Fails with Resources.
base::Result<pipeline::EngineHome> beginScratch();

// Allows structure and the prologue to take up to a quarter of the free memory.
void allowScratch();

// Confines the process. Call it once, while the process has a single thread. Without `access`, the process keeps its
// rights, as requested by the user. `verifies` means that it runs the models' own forward in children.
void beginConfined(std::optional<confine::Access> access, bool verifies);

// Returns the folder that contains a file or a folder.
std::string around(const std::string& path);
// Allows writing below `folder`, and removing it at the end, which changes the parent folder `in`.
void addFolder(confine::Access& access, const std::string& folder, const std::string& in);
void addModel(confine::Access& access, const pipeline::ModelOptions& model);
// Allows access to the rates of the machine, which runs refine, and to the list of trusted files.
void addUsersOwn(confine::Access& access);

}  // namespace hopscope::engine
