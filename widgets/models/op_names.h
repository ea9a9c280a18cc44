#pragma once

// The names of operators, the same in the whole window.

#include <QString>

#include "protocol/model.h"

namespace hopscope::models {

// That of its first output, as the plan lists it ("convs.0 sum aggregation", "relu after convs.0"). Outputs of the model have
// names of their own; the operator that makes one is named after its module or its result.
QString opName(const protocol::ModelRecord& model, protocol::OpId op);
// The short form for boxes and trees, which show the place themselves: "sum aggregation" in convs.0, "relu" of
// "relu after convs.0", "lin" for the output of convs.0.lin in convs.0, and "Linear mlp.7" where a module has a number for
// a name. Tooltips have the full name.
QString opNameIn(const protocol::ModelRecord& model, protocol::OpId op, const QString& module);

}  // namespace hopscope::models
