#pragma once

#include "pipeline/opening/prepare.h"
#include "receptive/graph_part.h"
#include "receptive/receptive_field.h"

namespace hopscope::pipeline {

// Finds the receptive field of a node. Fails as receptive::receptiveField() does, with the refusal if the model cannot
// be split, and with Usage without data.
base::Result<schema::ReceptiveField> receptiveField(const Prepared& prepared, const receptive::Request& request,
                                                    const std::string& scratchFolder, Reporter& reporter,
                                                    const std::stop_token& stop);

// Selects nodes and edges from which the batches of the plan gather. Fails as receptive::graphPart() does, with the
// refusal if the model cannot be split, and with Usage without data.
base::Result<schema::GraphPart> graphPart(const Prepared& prepared, const plan::Plan& plan,
                                          const receptive::PartRequest& request, const std::string& scratchFolder,
                                          Reporter& reporter, const std::stop_token& stop);

}  // namespace hopscope::pipeline
