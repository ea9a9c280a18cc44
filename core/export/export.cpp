#include "export/export.h"

#include <fstream>
#include <span>

#include "analysis/naming/value_names.h"
#include "base/sha256.h"
#include "executor/exception_boundary.h"
#include "export/python_files.h"
#include "export/readme.h"
#include "export/runner_text.h"
#include "export/script_module.h"
#include "export/source.h"
#include "export/weights.h"
#include "graph/file.h"
#include "graph/safetensors.h"
#include "schema/documents.h"

namespace hopscope::exporter {

namespace {

base::Error outOfMemory()
{
    return base::makeError(base::ErrorCode::Resources, "out of memory while the export was written");
}

base::Status writeText(const std::string& text, const std::string& path)
{
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    if (file) return {};
    return base::fail(base::ErrorCode::Resources, path + ": cannot be written", "is the disk full?", path);
}

// Records the digest of the file, which run.py compares when it loads the weights.
base::Status saveWeights(const base::TensorMap& weights, const std::string& file, schema::Split& split)
{
    if (base::Status written = graph::writeSafetensors(file, weights); !written) {
        if (written.error().code != base::ErrorCode::Usage) return written;
        return base::fail(base::ErrorCode::Unsupported, written.error().message,
                          "convert these weights of the model to another type");
    }
    const base::Result<graph::MappedFile> mapped = graph::mapFile(file);
    if (!mapped) return base::forward(mapped);
    split.hashes["weights"] = base::sha256(std::span(mapped->data, static_cast<std::size_t>(mapped->size)));
    return {};
}

}  // namespace

base::Result<Bundle> write(const Request& request)
{
    if (request.analysis->reassociate)
        return base::fail(base::ErrorCode::Usage, "a model that --reassociate has changed cannot be exported",
                          "open the model without it, and make a new plan");
    return executor::catchAtBoundary(
        [&] {
            Stages stages = writeStages(*request.analysis, *request.plan, request.model->info().limits);
            Bundle bundle;
            bundle.split = schema::makeSplit(*request.plan, *request.analysis, request.verification);
            bundle.split.hashes = request.hashes;
            bundle.split.tool = request.tool;
            bundle.python = pythonFiles(stages, analysis::ValueNames(*request.analysis),
                                        request.model->info().className, request.tool);
            bundle.script = scriptSource(stages);
            bundle.split.code = std::move(stages.code);
            return bundle;
        },
        [] { return tl::unexpected(outOfMemory()); });
}

base::Status save(const Request& request, Bundle& bundle, const std::string& folder)
{
    std::map<std::string, std::string> texts = bundle.python;
    texts["plan.json"] = schema::writePlan(*request.plan, *request.analysis);
    texts["run.py"] = runnerText();
    texts["README.md"] = readme(request, bundle);
    for (const auto& [name, text] : texts)
        if (const base::Status written = writeText(text, folder + "/" + name); !written) return written;
    const base::Result<base::TensorMap> weights = weightsOf(*request.walk, *request.analysis, *bundle.split.code);
    if (!weights) return base::forward(weights);
    if (base::Status saved = saveWeights(*weights, folder + "/weights.safetensors", bundle.split); !saved) return saved;
    if (base::Status written = writeText(schema::writeSplit(bundle.split), folder + "/schema.json"); !written)
        return written;
    return saveScript(bundle.script, *bundle.split.code, *weights, folder + "/stages.pt");
}

}  // namespace hopscope::exporter
