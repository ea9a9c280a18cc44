#pragma once

// Internal to the preparation of models (prepare.h): infers the roles of data and weights, and cuts the sample by them.

#include "pipeline/opening/prepare.h"

namespace hopscope::pipeline {

using analysis::Overrides;

// Infers the roles of the inputs by inferSchema(), with the weights of the model.
base::Result<analysis::InputSchema> inferRoles(const base::TensorMap& inputs, const Overrides& roles,
                                               const loader::ModelInfo& info);

// Fills in the schema and the sample of these inputs. Fails with Input if the inputs do not match the roles, or if a
// weight does not have the rows of its table.
base::Status cutByRoles(Prepared& prepared, const base::TensorMap& inputs, const Overrides& roles);

// Adds notes on the roles, and their hash.
void noteRoles(Prepared& prepared);

// Tries other roles for a model that was refused: first those that follow from the use of inputs in its code, then
// those from the use of weights by its operators. If the model can be split with these, they replace the inferred ones,
// with a note for each; otherwise nothing changes. Walks the model up to sixteen times.
void readRolesOfModel(Prepared& prepared, Reporter& reporter);

}  // namespace hopscope::pipeline
