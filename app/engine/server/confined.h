#pragma once

// How a process that opens a model begins: with a scratch folder of its own, confined, and with a server for the children that
// verify, which are confined as well.

#include <optional>
#include <string>

#include "confine/confine.h"
#include "pipeline/home.h"
#include "pipeline/options.h"

namespace hopscope::engine {

// All temporary files go there from now on. Resources.
base::Result<pipeline::EngineHome> beginScratch();

// A fourth part of the free memory may hold structure and the prologue.
void allowScratch();

// Once, while the process has a single thread. Without access it keeps its rights, as the user wanted. `verifies`: it runs
// models' own forward in children.
void beginConfined(std::optional<confine::Access> access, bool verifies);

// The folder of a file, or of another folder.
std::string around(const std::string& path);
// To be removed in the end.
void addFolder(confine::Access& access, const std::string& folder, const std::string& in);
void addModel(confine::Access& access, const pipeline::ModelOptions& model);
// The rates of the machine, which runs refine, and the list of trusted files.
void addUsersOwn(confine::Access& access);

}  // namespace hopscope::engine
