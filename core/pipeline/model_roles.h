#pragma once

// Internal to the preparation of models (prepare.h): the roles of the data and of weights, and the sample that is cut by them.

#include "pipeline/prepare.h"

namespace hopscope::pipeline {

using analysis::Overrides;

// Calls inferSchema() with the weights of the model.
base::Result<analysis::InputSchema> inferRoles(const base::TensorMap& inputs, const Overrides& roles,
                                               const loader::ModelInfo& info);

// The schema and the sample of these inputs. Input if they do not fit the roles, or if the rows of a weight are not
// those of its table.
base::Status cutByRoles(Prepared& prepared, const base::TensorMap& inputs, const Overrides& roles);

// Adds the notes on the roles, and their hash.
void noteRoles(Prepared& prepared);

// Tries a refused model with the roles by which its code uses the inputs, then with those by which its operators use
// the weights. If it can be split with these, they replace the inferred ones, with a note for each; otherwise nothing
// changes. Walks the model up to sixteen times.
void readRolesOfModel(Prepared& prepared, Reporter& reporter);

}  // namespace hopscope::pipeline
