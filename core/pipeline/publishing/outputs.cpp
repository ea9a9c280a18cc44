#include "pipeline/publishing/outputs.h"

#include <filesystem>
#include <set>

#include "graph/npy.h"
#include "graph/safetensors.h"
#include "graph/strided.h"
#include "pipeline/files/text_file.h"

namespace hopscope::pipeline {

namespace fs = std::filesystem;

namespace {

base::Status writeNpy(const base::TensorView& tensor, const std::string& file)
{
    base::Result<graph::NpyWriter> writer = graph::NpyWriter::create(file, tensor.dtype, tensor.shape);
    if (!writer) return base::forward(writer);
    graph::copyElements(tensor, 0, tensor.elements(), writer->data());
    return writer->publish();
}

base::Status writeTensor(const executor::StoredTensor& stored, const std::string& file)
{
    if (stored.tensor.dtype != base::DType::BFloat16) return writeNpy(stored.tensor, file);
    return graph::writeSafetensors(file, {{stored.name, stored.tensor}});
}

// Two outputs may be one value, which has one store.
base::Status copyFile(const std::string& from, const std::string& to)
{
    std::error_code problem;
    if (fs::copy_file(from, to, fs::copy_options::overwrite_existing, problem)) return {};
    return base::fail(base::ErrorCode::Resources, to + ": cannot be written: " + problem.message(),
                      "is the disk full?");
}

}  // namespace

base::Result<std::vector<schema::OutputRecord>> stageOutputs(const executor::RunReport& run, OutputFolder& folder)
{
    std::vector<schema::OutputRecord> records;
    std::set<std::string> moved;
    for (const executor::StoredTensor& stored : run.outputs) {
        const bool wide = stored.tensor.dtype == base::DType::BFloat16;
        const std::string extension =
            stored.file.empty() ? (wide ? ".safetensors" : ".npy") : fs::path(stored.file).extension().string();
        const std::string name = outputFileName(stored.name) + extension;
        std::string file = stored.file;
        if (file.empty() || !moved.insert(file).second) {
            file = folder.journal() + "/" + std::to_string(records.size()) + ".result" + extension;
            const base::Status made = stored.file.empty() ? writeTensor(stored, file) : copyFile(stored.file, file);
            if (!made) return base::forward(made);
        }
        folder.add(file, name);
        records.push_back(
            {.name = stored.name, .file = name, .dtype = stored.tensor.dtype, .shape = stored.tensor.shape});
    }
    return records;
}

base::Status stageText(const std::string& text, const std::string& name, OutputFolder& folder)
{
    const std::string file = folder.journal() + "/" + name;
    if (const base::Status written = writeTextFile(text, file); !written) return written;
    folder.add(file, name);
    return {};
}

}  // namespace hopscope::pipeline
