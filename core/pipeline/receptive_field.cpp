#include "pipeline/receptive_field.h"

namespace hopscope::pipeline {

base::Result<schema::ReceptiveField> receptiveField(const Prepared& prepared, const receptive::Request& request,
                                                    const std::string& scratchFolder, Reporter& reporter,
                                                    const std::stop_token& stop)
{
    if (!prepared.hasData())
        return base::fail(base::ErrorCode::Usage, "a receptive field needs a graph", "open the model with its data");
    if (prepared.analysis.refusal) return tl::unexpected(*prepared.analysis.refusal);
    reporter.progress({"following the receptive field"});
    auto field =
        receptive::receptiveField(prepared.walk, prepared.analysis, prepared.inputs, request, scratchFolder, stop);
    reporter.progressEnded();
    return field;
}

}  // namespace hopscope::pipeline
