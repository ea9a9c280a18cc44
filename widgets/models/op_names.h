#pragma once

// The names of operators, the same in the whole window. Boxes of the graph and rows of the outline show the short word
// of opLabel(), and their tooltips show the name.

#include <QString>

#include "protocol/model.h"

namespace hopscope::models {

// Returns the name of the operator's first output, as the plan lists it ("convs.0 sum aggregation", "relu after
// convs.0"). Outputs of the model have names of their own; an operator that computes one is named after its module or
// its result.
QString opName(const protocol::ModelRecord& model, protocol::OpId op);

}  // namespace hopscope::models
