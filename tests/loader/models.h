#pragma once

#include <string>
#include <vector>

namespace hopscope::test {

// Whether the Python with PyTorch is there that writes the models.
bool canMakeModels();

// The folder of models that make_models.py writes; made on first use, empty if there is no Python with PyTorch.
const std::string& modelFolder();

// Path of a model; empty if it could not be made.
std::string modelPath(const std::string& name);

// Files in the shared data folder that lies beside a checkout; empty if it is not there.
std::vector<std::string> sharedModels();
std::string sharedFile(const std::string& name);

}  // namespace hopscope::test
