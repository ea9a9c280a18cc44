#pragma once

#include "pipeline/prepare.h"
#include "receptive/graph_part.h"
#include "receptive/receptive_field.h"

namespace hopscope::pipeline {

// Requires a model that can be split and comes with data. Otherwise fails with the refusal, or with Usage.
base::Result<schema::ReceptiveField> receptiveField(const Prepared& prepared, const receptive::Request& request,
                                                    const std::string& scratchFolder, Reporter& reporter,
                                                    const std::stop_token& stop);

// The nodes and edges from which the batches of the plan gather. Fails in the same way.
base::Result<schema::GraphPart> graphPart(const Prepared& prepared, const plan::Plan& plan,
                                          const receptive::PartRequest& request, const std::string& scratchFolder,
                                          Reporter& reporter, const std::stop_token& stop);

}  // namespace hopscope::pipeline
