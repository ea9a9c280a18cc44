// Runs the stages of exported folders from C++: rerun_export, then FOLDER DATA.safetensors OUT.safetensors as often as wanted
// (loading LibTorch takes longer than most runs). What it calls does no more than torch::jit::load and call methods as the
// schema says. Prints a line for each: 0, or the exit code of its error and a sentence.

#include <algorithm>
#include <fstream>
#include <iostream>
#include <sstream>

#include "export/rerun.h"
#include "graph/safetensors.h"
#include "loader/vector_math.h"

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
    const base::Result<base::TensorMap> outputs =
        exporter::rerun(folder + "/stages.pt", *split, *inputs, loader::Extent::Graph);
    if (!outputs) return base::forward(outputs);
    return graph::writeSafetensors(out, *outputs);
}

std::string outcome(const base::Status& done)
{
    if (done) return "0";
    std::string sentence = base::describe(done.error());
    std::replace(sentence.begin(), sentence.end(), '\n', ' ');
    return std::to_string(static_cast<int>(done.error().code)) + " " + sentence;
}

}  // namespace

int main(int count, char** words)
{
    if (count < 4 || count % 3 != 1) return 2;
    hopscope::loader::resolveVectorMath();
    for (int i = 1; i < count; i += 3) std::cout << outcome(rerun(words[i], words[i + 1], words[i + 2])) << std::endl;
}
