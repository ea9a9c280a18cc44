#include "pipeline/debugging/receptive_field.h"

namespace hopscope::pipeline {

namespace {

base::Status checkGraph(const Prepared& prepared, const std::string& what)
{
    if (!prepared.hasData())
        return base::fail(base::ErrorCode::Usage, what + " needs a graph", "open the model with its data");
    if (prepared.analysis.refusal) return tl::unexpected(*prepared.analysis.refusal);
    return {};
}

}  // namespace

base::Result<schema::ReceptiveField> receptiveField(const Prepared& prepared, const receptive::Request& request,
                                                    const std::string& scratchFolder, Reporter& reporter,
                                                    const std::stop_token& stop)
{
    if (const base::Status fit = checkGraph(prepared, "a receptive field"); !fit) return base::forward(fit);
    reporter.progress({"following the receptive field"});
    auto field =
        receptive::receptiveField(prepared.walk, prepared.analysis, prepared.inputs, request, scratchFolder, stop);
    reporter.progressEnded();
    return field;
}

base::Result<schema::GraphPart> graphPart(const Prepared& prepared, const plan::Plan& plan,
                                          const receptive::PartRequest& request, const std::string& scratchFolder,
                                          Reporter& reporter, const std::stop_token& stop)
{
    if (const base::Status fit = checkGraph(prepared, "an animation"); !fit) return base::forward(fit);
    reporter.progress({"looking up nodes and edges"});
    auto part =
        receptive::graphPart(prepared.walk, prepared.analysis, plan, prepared.inputs, request, scratchFolder, stop);
    reporter.progressEnded();
    return part;
}

}  // namespace hopscope::pipeline
