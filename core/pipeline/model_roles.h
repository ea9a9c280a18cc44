#pragma once

// Internal to the preparation of models (prepare.cpp): the roles of the data and of weights, and the sample that is cut by them.

#include <map>
#include <string>
#include <vector>

#include "pipeline/prepare.h"

namespace hopscope::pipeline {

using Overrides = std::map<std::string, analysis::InputRole>;

// Of --role, by name. Usage where one is no role.
base::Result<Overrides> parseRoles(const std::vector<std::string>& texts);

// inferSchema() with the weights of the model.
base::Result<analysis::InputSchema> inferRoles(const base::TensorMap& inputs, const Overrides& roles,
                                               const loader::ModelInfo& info);

// The schema and the sample of these inputs. Input where they do not fit the roles, or a weight has other rows than its table.
base::Status cutByRoles(Prepared& prepared, const base::TensorMap& inputs, const Overrides& roles);

}  // namespace hopscope::pipeline
