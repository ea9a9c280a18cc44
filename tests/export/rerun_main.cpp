// Runs the stages of an exported folder from C++: rerun_export FOLDER DATA.safetensors OUT.safetensors. What it calls does no
// more than torch::jit::load and call methods as the schema says.

#include <fstream>
#include <iostream>
#include <sstream>

#include "export/rerun.h"
#include "graph/safetensors.h"

namespace {

using namespace hopscope;

base::Status rerun(const std::string& folder, const std::string& data, const std::string& out)
{
    std::ostringstream text;
    text << std::ifstream(folder + "/schema.json").rdbuf();
    const base::Result<schema::Split> split = schema::readSplit(text.str(), folder + "/schema.json");
    if (!split) return base::forward(split);
    const base::Result<base::TensorMap> inputs = graph::mapSafetensors(data);
    if (!inputs) return base::forward(inputs);
    const base::Result<base::TensorMap> outputs = exporter::rerun(folder + "/stages.pt", *split, *inputs);
    if (!outputs) return base::forward(outputs);
    return graph::writeSafetensors(out, *outputs);
}

}  // namespace

int main(int count, char** words)
{
    if (count != 4) return 2;
    const base::Status done = rerun(words[1], words[2], words[3]);
    if (done) return 0;
    std::cerr << base::describe(done.error()) << "\n";
    return static_cast<int>(done.error().code);
}
