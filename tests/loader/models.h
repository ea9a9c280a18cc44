#pragma once

#include <string>
#include <vector>

namespace hopscope::test {

// The folder of models that make_models.py writes; made on first use. The test fails if that is not possible.
const std::string& modelFolder();

// Path of a model; the test fails if it is not there.
std::string modelPath(const std::string& name);

#ifdef TEST_SHARED
// The trained models on Cora, at least one.
std::vector<std::string> sharedModels();
#endif

}  // namespace hopscope::test
